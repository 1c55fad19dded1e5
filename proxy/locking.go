package proxy

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/pgerr"
)

// lockings are the row locks of SELECT, as Postgres calls the commands that take them.
var lockings = map[pg_query.LockClauseStrength]string{
	pg_query.LockClauseStrength_LCS_FORUPDATE: "SELECT FOR UPDATE", pg_query.LockClauseStrength_LCS_FORNOKEYUPDATE: "SELECT FOR NO KEY UPDATE",
	pg_query.LockClauseStrength_LCS_FORSHARE: "SELECT FOR SHARE", pg_query.LockClauseStrength_LCS_FORKEYSHARE: "SELECT FOR KEY SHARE",
}

// checkLocking refuses to lock rows in a read-only transaction, in which home gets them spelled out.
func (x *execution) checkLocking() error {
	clauses := x.statement.Node.Stmt.GetSelectStmt().GetLockingClause()
	if !x.facts.ReadOnly || x.explained || len(clauses) == 0 {
		return nil
	}
	return pgerr.New(pgerr.ReadOnlyTransaction, "cannot execute %s in a read-only transaction", lockings[clauses[0].GetLockingClause().Strength])
}

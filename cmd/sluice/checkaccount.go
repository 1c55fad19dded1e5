package main

import (
	"context"
	"errors"
	"fmt"
)

// accountSQL yields what the proxy's own account may not do in a database: the privilege that it lacks, as GRANT names it,
// and what it is for.
const accountSQL = `SELECT privilege, use FROM (VALUES
 ('EXECUTE ON FUNCTION sluice.write_audit(json)', 'write the audit', has_function_privilege('sluice.write_audit(json)', 'EXECUTE')),
 ('EXECUTE ON FUNCTION sluice.cancel_channel()', 'learn what pg_cancel_backend cancels', has_function_privilege('sluice.cancel_channel()', 'EXECUTE')),
 ('SELECT ON sluice.mask_salt', 'compute sluice.mask_hash', has_table_privilege('sluice.mask_salt', 'SELECT')
   OR NOT EXISTS (SELECT FROM sluice.column_mask WHERE expression LIKE '%mask_hash%')),
 ('EXECUTE ON FUNCTION sluice.fold_statistics(), sluice.pending_statistics(), sluice.fill_statistics()', 'look after counters',
   has_function_privilege('sluice.fold_statistics()', 'EXECUTE') AND has_function_privilege('sluice.pending_statistics()', 'EXECUTE')
   AND has_function_privilege('sluice.fill_statistics()', 'EXECUTE')
   OR NOT EXISTS (SELECT FROM sluice.table_statistics)),
 ('EXECUTE ON FUNCTION sluice.foreign_counters(), sluice.foreign_counted(oid, boolean, text)', 'have servers count rows',
   has_function_privilege('sluice.foreign_counters()', 'EXECUTE') AND has_function_privilege('sluice.foreign_counted(oid, boolean, text)', 'EXECUTE')
   OR NOT EXISTS (SELECT FROM sluice.table_statistics_foreign))
) AS needed (privilege, use, held) WHERE NOT held`

// checkAccount looks for privileges that the account of --home needs and lacks.
func (c *checker) checkAccount(ctx context.Context, s session, database, account string) {
	what := "database " + database
	rows, err := s.Query(ctx, accountSQL)
	if err != nil {
		c.fail(what, err, "see that schema sluice is as CREATE EXTENSION sluice made it")
		return
	}
	for _, row := range rows {
		c.fail(what, errors.New(account+" cannot "+*row[1]), fmt.Sprintf("GRANT %s TO %s", *row[0], account))
	}
}

package ddl

import (
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
)

// Present looks up what stands in the catalog. A nil function, and one that returns nil or false, means not known: then
// the changes alone are checked and the rest is left to home.
type Present struct {
	Server func(name string) *catalog.Server
	Table  func(schema, name string) *catalog.Relation // schema is empty where the statement has none
	// Mapping returns the options of a user mapping; user is a role's name, or PUBLIC or CURRENT_USER as a key word.
	Mapping func(server, user string) (options map[string]string, known bool)
}

// InSnapshot looks servers and tables up in a snapshot. A table named without schema is found where its name is unique.
func InSnapshot(s *catalog.Snapshot) Present {
	return Present{
		Server: func(name string) *catalog.Server {
			for _, server := range s.Servers {
				if server.Name == name {
					return server
				}
			}
			return nil
		},
		Table: func(schema, name string) (found *catalog.Relation) {
			for _, r := range s.Relations {
				if r.Name != name || r.Server == nil || schema != "" && r.Schema != schema {
					continue
				}
				if found != nil {
					return nil
				}
				found = r
			}
			return found
		},
	}
}

// check is one statement that is being looked at.
type check struct {
	wrappers map[string]engines.Wrapper
	present  Present
	notices  []*pgconn.PgError
}

// Check validates the options that a statement gives to servers, user mappings, foreign tables and their columns of our
// wrappers, before it goes to home. Any other statement, and any object of another wrapper, is fine. Notices are for
// the client, to be sent also where there is no error.
func Check(node *pg_query.Node, wrappers map[string]engines.Wrapper, present Present) ([]*pgconn.PgError, error) {
	c := &check{wrappers: wrappers, present: present}
	var err error
	switch n := node.GetNode().(type) {
	case *pg_query.Node_CreateForeignServerStmt:
		err = c.createServer(n.CreateForeignServerStmt)
	case *pg_query.Node_AlterForeignServerStmt:
		err = c.alterServer(n.AlterForeignServerStmt)
	case *pg_query.Node_CreateUserMappingStmt:
		s := n.CreateUserMappingStmt
		err = c.mapping(s.Servername, roleName(s.User), s.Options, map[string]string{}, true)
	case *pg_query.Node_AlterUserMappingStmt:
		err = c.alterMapping(n.AlterUserMappingStmt)
	case *pg_query.Node_CreateForeignTableStmt:
		err = c.createTable(n.CreateForeignTableStmt)
	case *pg_query.Node_AlterTableStmt:
		err = c.alterTable(n.AlterTableStmt)
	}
	return c.notices, err
}

// options checks the options of one object and keeps its notices.
func (c *check) options(o object, list []*pg_query.Node) error {
	notices, err := o.check(list)
	c.notices = append(c.notices, notices...)
	return err
}

// server returns a server of ours and its wrapper; nil where it is not known, not ours or without an engine.
func (c *check) server(name string) (*catalog.Server, engines.Wrapper) {
	if c.present.Server == nil {
		return nil, nil
	}
	s := c.present.Server(name)
	if s == nil {
		return nil, nil
	}
	return s, c.wrappers[s.Wrapper]
}

func (c *check) createServer(n *pg_query.CreateForeignServerStmt) error {
	if here, _ := c.server(n.Servername); here != nil && n.IfNotExists {
		return nil // home leaves it as it is
	}
	w := c.wrappers[n.Fdwname]
	if w == nil {
		if slices.Contains(catalog.Wrappers, n.Fdwname) {
			c.notices = append(c.notices, warning("",
				"this proxy has no engine for foreign-data wrapper %q: the tables of server %q cannot be read", n.Fdwname, n.Servername))
		}
		return nil
	}
	return c.options(object{
		kind: engines.ServerObject, title: "server " + ident(n.Servername), wrapper: w, known: true,
	}, n.Options)
}

func (c *check) alterServer(n *pg_query.AlterForeignServerStmt) error {
	s, w := c.server(n.Servername)
	if w == nil {
		return nil
	}
	return c.options(object{
		kind: engines.ServerObject, title: "server " + ident(s.Name), wrapper: w, present: s.Options, known: true,
	}, n.Options)
}

func (c *check) alterMapping(n *pg_query.AlterUserMappingStmt) error {
	var present map[string]string
	known := false
	if c.present.Mapping != nil {
		present, known = c.present.Mapping(n.Servername, roleName(n.User))
	}
	return c.mapping(n.Servername, roleName(n.User), n.Options, present, known)
}

func (c *check) mapping(server, user string, list []*pg_query.Node, present map[string]string, known bool) error {
	_, w := c.server(server)
	if w == nil {
		return nil
	}
	return c.options(object{
		kind: engines.MappingObject, title: "user mapping for " + user + " on server " + ident(server), wrapper: w,
		present: present, known: known,
	}, list)
}

// roleName writes a role as the statement has it.
func roleName(r *pg_query.RoleSpec) string {
	switch r.GetRoletype() {
	case pg_query.RoleSpecType_ROLESPEC_PUBLIC:
		return "PUBLIC"
	case pg_query.RoleSpecType_ROLESPEC_CURRENT_USER, pg_query.RoleSpecType_ROLESPEC_CURRENT_ROLE:
		return "CURRENT_USER"
	case pg_query.RoleSpecType_ROLESPEC_SESSION_USER:
		return "SESSION_USER"
	}
	return r.GetRolename()
}

func (c *check) createTable(n *pg_query.CreateForeignTableStmt) error {
	_, w := c.server(n.Servername)
	if w == nil {
		return nil
	}
	name := n.GetBaseStmt().GetRelation().GetRelname()
	err := c.options(object{
		kind: engines.TableObject, title: "foreign table " + ident(name), wrapper: w, known: true,
	}, n.Options)
	for _, e := range n.GetBaseStmt().GetTableElts() {
		if err != nil {
			break
		}
		err = c.column(w, name, e.GetColumnDef())
	}
	return err
}

// column checks a column that is being made; nil is fine.
func (c *check) column(w engines.Wrapper, table string, d *pg_query.ColumnDef) error {
	if d == nil {
		return nil
	}
	return c.options(object{
		kind: engines.ColumnObject, title: columnTitle(d.Colname, table), wrapper: w, known: true,
	}, d.Fdwoptions)
}

func columnTitle(column, table string) string {
	return "column " + ident(column) + " of foreign table " + ident(table)
}

func (c *check) alterTable(n *pg_query.AlterTableStmt) error {
	if c.present.Table == nil || n.Relation == nil {
		return nil
	}
	r := c.present.Table(n.Relation.Schemaname, n.Relation.Relname)
	if r == nil || r.Server == nil {
		return nil
	}
	w := c.wrappers[r.Server.Wrapper]
	if w == nil {
		return nil
	}
	for _, node := range n.Cmds {
		if err := c.alterTableCmd(r, w, node.GetAlterTableCmd()); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) alterTableCmd(r *catalog.Relation, w engines.Wrapper, cmd *pg_query.AlterTableCmd) error {
	switch cmd.GetSubtype() {
	case pg_query.AlterTableType_AT_AddColumn:
		return c.column(w, r.Name, cmd.GetDef().GetColumnDef())
	case pg_query.AlterTableType_AT_GenericOptions:
		return c.options(object{
			kind: engines.TableObject, title: "foreign table " + ident(r.Name), wrapper: w, present: r.Options, known: true,
		}, cmd.GetDef().GetList().GetItems())
	case pg_query.AlterTableType_AT_AlterColumnGenericOptions:
		i := slices.IndexFunc(r.Columns, func(column catalog.Column) bool { return column.Name == cmd.Name })
		o := object{kind: engines.ColumnObject, title: columnTitle(cmd.Name, r.Name), wrapper: w}
		if i >= 0 {
			o.present, o.known = r.Columns[i].Options, true
		}
		return c.options(o, cmd.GetDef().GetList().GetItems())
	}
	return nil
}

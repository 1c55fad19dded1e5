package tpch

import (
	"bufio"
	"io"
	"strings"
)

// Column is a column of a table.
type Column struct {
	Name string
	Type string // as Postgres spells it; DuckDB reads it too
}

// Table is one of the eight tables.
type Table struct {
	Name    string
	Columns []Column
	rows    func(w *rowWriter, s scale)
}

// Tables returns the tables, referenced ones first.
func Tables() []Table {
	return []Table{
		{"region", columns("r_regionkey integer, r_name char(25), r_comment varchar(152)"), writeRegions},
		{"nation", columns("n_nationkey integer, n_name char(25), n_regionkey integer, n_comment varchar(152)"), writeNations},
		{"supplier", columns("s_suppkey integer, s_name char(25), s_address varchar(40), s_nationkey integer, s_phone char(15), " +
			"s_acctbal numeric(15;2), s_comment varchar(101)"), writeSuppliers},
		{"part", columns("p_partkey integer, p_name varchar(55), p_mfgr char(25), p_brand char(10), p_type varchar(25), " +
			"p_size integer, p_container char(10), p_retailprice numeric(15;2), p_comment varchar(23)"), writeParts},
		{"partsupp", columns("ps_partkey integer, ps_suppkey integer, ps_availqty integer, " +
			"ps_supplycost numeric(15;2), ps_comment varchar(199)"), writePartSuppliers},
		{"customer", columns("c_custkey integer, c_name varchar(25), c_address varchar(40), c_nationkey integer, c_phone char(15), " +
			"c_acctbal numeric(15;2), c_mktsegment char(10), c_comment varchar(117)"), writeCustomers},
		{"orders", columns("o_orderkey bigint, o_custkey integer, o_orderstatus char(1), o_totalprice numeric(15;2), o_orderdate date, " +
			"o_orderpriority char(15), o_clerk char(15), o_shippriority integer, o_comment varchar(79)"), writeOrders},
		{"lineitem", columns("l_orderkey bigint, l_partkey integer, l_suppkey integer, l_linenumber integer, " +
			"l_quantity numeric(15;2), l_extendedprice numeric(15;2), l_discount numeric(15;2), l_tax numeric(15;2), l_returnflag char(1), " +
			"l_linestatus char(1), l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct char(25), l_shipmode char(10), " +
			"l_comment varchar(44)"), writeLineItems},
	}
}

// columns reads "name type, …", where a comma within a type is written as a semicolon. No column is NULL.
func columns(text string) []Column {
	var list []Column
	for _, part := range strings.Split(text, ", ") {
		name, typ, _ := strings.Cut(part, " ")
		list = append(list, Column{name, strings.ReplaceAll(typ, ";", ",")})
	}
	return list
}

// Definition returns the columns with their types, separated by commas; each is followed by more.
func (t Table) Definition(more string) string {
	parts := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		parts[i] = c.Name + " " + c.Type + more
	}
	return strings.Join(parts, ", ")
}

// Write writes the table's rows, one a line, fields separated by '|', which with backslashes, quotes and empty fields is
// in none: Postgres reads it as COPY … (DELIMITER '|'). A factor of 1 makes 1 GB of all tables; memory does not grow with it.
func (t Table) Write(w io.Writer, factor float64) error {
	rows := &rowWriter{w: bufio.NewWriterSize(w, 1<<18)}
	t.rows(rows, scale(factor))
	return rows.w.Flush()
}

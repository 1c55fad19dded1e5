package fake

import (
	"database/sql"
	"net/http"
	"slices"
	"strconv"
	"strings"

	rest "google.golang.org/api/bigquery/v2"
)

// table is what DuckDB says of one; that of a dataset without tables has no name.
type table struct {
	dataset, name, comment string
	columns                []column
}

type column struct {
	name, typ, comment string
	nullable           bool
}

// readTables lists datasets and tables, the last one first.
func readTables(db *sql.DB) ([]table, error) {
	rows, err := db.Query(`SELECT s.schema_name, coalesce(t.table_name, ''), coalesce(t.comment, ''), coalesce(c.column_name, ''), coalesce(c.data_type, ''), coalesce(c.comment, ''), coalesce(c.is_nullable, true)
		FROM duckdb_schemas() s LEFT JOIN duckdb_tables() t ON t.schema_name = s.schema_name LEFT JOIN duckdb_columns() c ON c.schema_name = t.schema_name AND c.table_name = t.table_name
		WHERE s.database_name = current_database() AND NOT s.internal ORDER BY 1, 2 DESC, c.column_index`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []table
	for rows.Next() {
		var t table
		var c column
		if err := rows.Scan(&t.dataset, &t.name, &t.comment, &c.name, &c.typ, &c.comment, &c.nullable); err != nil {
			return nil, err
		}
		if n := len(all); n == 0 || all[n-1].dataset != t.dataset || all[n-1].name != t.name {
			all = append(all, t)
		}
		last := &all[len(all)-1]
		last.columns = append(last.columns, c)
	}
	return all, rows.Err()
}

// perPage is how many tables a page has.
const perPage = 2

func (p *Project) list(w http.ResponseWriter, r *http.Request) {
	dataset, found := r.PathValue("dataset"), false
	var names []string
	p.mu.Lock()
	tables := append(slices.Clone(p.tables), p.kept...)
	p.mu.Unlock()
	for _, t := range tables {
		if t.dataset == dataset {
			if found = true; t.name != "" {
				names = append(names, t.name)
			}
		}
	}
	if !found {
		refuse(w, http.StatusNotFound, "notFound", "Not found: Dataset %s:%s", Name, dataset)
		return
	}
	at, _ := strconv.Atoi(r.URL.Query().Get("pageToken"))
	out := &rest.TableList{}
	for i, name := range names[at:] {
		if i == perPage {
			out.NextPageToken = strconv.Itoa(at + perPage)
			break
		}
		out.Tables = append(out.Tables, &rest.TableListTables{TableReference: &rest.TableReference{ProjectId: Name, DatasetId: dataset, TableId: name}, Type: "TABLE"})
	}
	answer(w, http.StatusOK, out)
}

func (p *Project) describe(w http.ResponseWriter, r *http.Request) {
	dataset, name := r.PathValue("dataset"), r.PathValue("table")
	p.mu.Lock()
	out := p.details[dataset+"."+name]
	p.mu.Unlock()
	for _, t := range p.tables {
		if t.dataset != dataset || t.name != name || name == "" {
			continue
		}
		out.TableReference, out.Description = &rest.TableReference{ProjectId: Name, DatasetId: dataset, TableId: name}, t.comment
		out.Schema = &rest.TableSchema{}
		for _, c := range t.columns {
			if hides(&out, c.name) {
				continue
			}
			f := remote(c.typ)
			if f.Name, f.Description = c.name, c.comment; !c.nullable {
				f.Mode = "REQUIRED"
			}
			out.Schema.Fields = append(out.Schema.Fields, f)
		}
		answer(w, http.StatusOK, &out)
		return
	}
	refuse(w, http.StatusNotFound, "notFound", "Not found: Table %s:%s.%s", Name, dataset, name)
}

// remoteNames are the service's names of DuckDB's types.
var remoteNames = map[string]string{
	"BOOLEAN": "BOOLEAN", "BIGINT": "INTEGER", "INTEGER": "INTEGER", "SMALLINT": "INTEGER", "DOUBLE": "FLOAT", "VARCHAR": "STRING", "BLOB": "BYTES", "DATE": "DATE", "TIME": "TIME",
	"TIMESTAMP": "DATETIME", "TIMESTAMP WITH TIME ZONE": "TIMESTAMP", "JSON": "JSON", "INTERVAL": "INTERVAL", "UUID": "STRING",
}

// remote is how the service describes a column of one of DuckDB's types.
func remote(typ string) *rest.TableFieldSchema {
	if element, ok := strings.CutSuffix(typ, "[]"); ok {
		f := remote(element)
		f.Mode = "REPEATED"
		return f
	}
	if digits, ok := strings.CutPrefix(typ, "DECIMAL("); ok {
		p, s, _ := strings.Cut(strings.TrimSuffix(digits, ")"), ",")
		f := &rest.TableFieldSchema{Type: "NUMERIC"}
		f.Precision, _ = strconv.ParseInt(p, 10, 64)
		if f.Scale, _ = strconv.ParseInt(s, 10, 64); f.Scale > 9 || f.Precision-f.Scale > 29 {
			f.Type = "BIGNUMERIC"
		}
		if f.Precision == 38 && f.Scale == 9 {
			f.Precision, f.Scale = 0, 0
		}
		return f
	}
	switch {
	case strings.HasPrefix(typ, "STRUCT("):
		return &rest.TableFieldSchema{Type: "RECORD", Fields: []*rest.TableFieldSchema{{Name: "a", Type: "INTEGER"}}}
	case strings.HasPrefix(typ, "MAP("):
		return &rest.TableFieldSchema{Type: "RANGE"}
	}
	return &rest.TableFieldSchema{Type: remoteNames[typ]}
}

package page

import (
	"encoding/json"
	"slices"
)

// Facts are what home says of the relations and functions that a query names, by sluice.page_facts.
type Facts struct {
	Max       string      `json:"max"`       // sluice.max_page_size, empty where it is not set
	Unindexed string      `json:"unindexed"` // sluice.on_unindexed_page, likewise
	Writes    bool        `json:"writes"`    // the transaction may note advice
	Functions []Function  `json:"functions"`
	Relations []*Relation `json:"relations"` // in the order in which they were named, nil where there is none
}

// Function is what is true of any function of a bare name.
type Function struct {
	Name     string `json:"name"`
	Volatile bool   `json:"volatile"` // it may yield something else each time
	Set      bool   `json:"set"`      // it yields several rows for one, or one for several
}

// functionsThat are the names of the functions of which something is true.
func (f *Facts) functionsThat(is func(Function) bool) (names []string) {
	for _, fn := range f.Functions {
		if is(fn) {
			names = append(names, fn.Name)
		}
	}
	return names
}

// Relation is a table of home, or any other relation, of which little is known then.
type Relation struct {
	OID     int64    `json:"oid"`
	Kind    string   `json:"kind"`
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Wrapper string   `json:"wrapper"` // of a foreign table
	Plain   bool     `json:"plain"`   // constraints and indexes are those of all its rows
	Columns []Column `json:"columns"`
	Indexes []Index  `json:"indexes"`
}

// Column is one of a relation's.
type Column struct {
	Name      string `json:"name"`
	Num       int64  `json:"num"`
	NotNull   bool   `json:"notnull"`
	Masked    bool   `json:"masked"` // for some roles: what they see may be NULL, and the same for many rows
	Key       bool   `json:"key"`    // of a foreign table: its option key is true
	Collation int64  `json:"collation"`
	Type      uint32 `json:"type"`
}

// Index is one of a relation's that is valid.
type Index struct {
	OID     int64      `json:"oid"`
	Name    string     `json:"name"`
	Unique  bool       `json:"unique"`
	Primary bool       `json:"primary"`
	Partial bool       `json:"partial"`
	Btree   bool       `json:"btree"`
	Keys    []IndexKey `json:"keys"`
}

// IndexKey is one key of an index.
type IndexKey struct {
	Num        int64  `json:"num"` // 0 for an expression
	Expression string `json:"expression"`
	Collation  int64  `json:"collation"`
	Desc       bool   `json:"desc"`
	First      bool   `json:"first"` // NULLs
}

// ReadFacts reads what sluice.page_facts has returned.
func ReadFacts(text string) (*Facts, error) {
	f := &Facts{}
	err := json.Unmarshal([]byte(text), f)
	return f, err
}

func (r *Relation) column(name string) *Column {
	i := slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Columns[i]
}

func (r *Relation) byNum(num int64) *Column {
	i := slices.IndexFunc(r.Columns, func(c Column) bool { return c.Num == num })
	if i < 0 {
		return nil
	}
	return &r.Columns[i]
}

// uniqueKey is a set of columns no two rows have in common.
type uniqueKey struct {
	columns []*Column
	index   int64 // its OID; 0 where it is declared by the option key of a foreign table's columns
}

// uniqueKeys are those of a relation, the primary key first. NULLs are in none of their columns.
func (r *Relation) uniqueKeys() (list []uniqueKey) {
	if !r.Plain {
		return nil
	}
	if r.Kind == "f" {
		var declared uniqueKey
		for i := range r.Columns {
			if c := &r.Columns[i]; c.Key && !c.Masked {
				declared.columns = append(declared.columns, c)
			}
		}
		if len(declared.columns) > 0 {
			list = append(list, declared)
		}
		return list
	}
	for _, x := range r.Indexes {
		key := uniqueKey{index: x.OID}
		for _, k := range x.Keys {
			if c := r.byNum(k.Num); c != nil && c.NotNull && !c.Masked {
				key.columns = append(key.columns, c)
			}
		}
		if x.Unique && !x.Partial && len(key.columns) == len(x.Keys) {
			list = append(list, key)
		}
	}
	return list
}

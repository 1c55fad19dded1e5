package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sluicedb/sluice/pgerr"
)

// installedSQL says whether the extension stands in this database. Only a superuser's function counts: whoever may
// create a schema could otherwise feed the proxy servers of his own making. A dump brings event triggers back last, and
// before that not all of the extension is there. Operators and types are qualified because the statement may run under a
// client's search path.
const installedSQL = `SELECT pg_catalog.count(*) FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) p.proowner
WHERE p.oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure('sluice.snapshot()')::pg_catalog.oid AND r.rolsuper
AND EXISTS (SELECT FROM pg_catalog.pg_event_trigger WHERE evtname OPERATOR(pg_catalog.=) 'sluice_ddl')`

// Load reads the snapshot of the database that q is connected to. It takes two round trips, one where the extension is
// not installed.
func Load(ctx context.Context, q Querier) (*Snapshot, error) {
	rows, err := q.Query(ctx, installedSQL)
	if err != nil {
		return nil, err
	}
	if text(rows, 0, 0) != "1" {
		return &Snapshot{}, nil
	}
	rows, err = q.Query(ctx, "SELECT sluice.snapshot()")
	if err != nil {
		return nil, err
	}
	return decode(text(rows, 0, 0))
}

// text returns one value of rows, empty for NULL and for what is not there.
func text(rows [][]*string, row, column int) string {
	if row >= len(rows) || column >= len(rows[row]) || rows[row][column] == nil {
		return ""
	}
	return *rows[row][column]
}

// The document that sluice.snapshot() returns. Options are "name=value" as Postgres stores them.
type (
	snapshotDoc struct {
		Version     int64         `json:"version"`
		Uncommitted bool          `json:"uncommitted"`
		Shadows     []string      `json:"shadows"`
		Servers     []serverDoc   `json:"servers"`
		Relations   []relationDoc `json:"relations"`

		Twins map[uint32]uint32 `json:"twins"`

		Counted  []countedDoc `json:"counted"`
		Remotely []uint32     `json:"remotely"`
	}
	countedDoc struct {
		Schema string `json:"schema"`
		Name   string `json:"name"`
		Keys   []struct {
			Name string `json:"name"`
			Type string `json:"type"`
		} `json:"keys"`
	}
	serverDoc struct {
		OID     uint32   `json:"oid"`
		Name    string   `json:"name"`
		Wrapper string   `json:"wrapper"`
		Options []string `json:"options"`
		More    []string `json:"more"`
	}
	relationDoc struct {
		OID      uint32      `json:"oid"`
		Schema   string      `json:"schema"`
		Name     string      `json:"name"`
		Kind     string      `json:"kind"`
		Owner    uint32      `json:"owner"`
		Server   uint32      `json:"server"`
		Options  []string    `json:"options"`
		Invoker  bool        `json:"invoker"`
		Governed bool        `json:"governed"`
		Columns  []columnDoc `json:"columns"`
		View     string      `json:"view"`
	}
	columnDoc struct {
		Num       int16    `json:"num"`
		Name      string   `json:"name"`
		Type      uint32   `json:"type"`
		Typmod    int32    `json:"typmod"`
		TypeName  string   `json:"typename"`
		NotNull   bool     `json:"notnull"`
		Collation uint32   `json:"collation"`
		Collate   string   `json:"collate"`
		BytewiseC bool     `json:"bytewise"`
		Generated bool     `json:"generated"`
		Options   []string `json:"options"`
	}
)

func decode(document string) (*Snapshot, error) {
	var doc snapshotDoc
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		return nil, pgerr.Hint(
			pgerr.New(pgerr.ObjectNotInPrerequisite, "cannot read the catalog of extension \"sluice\": %v", err),
			"Run ALTER EXTENSION sluice UPDATE as a superuser.")
	}
	s := &Snapshot{
		Installed:   true,
		Version:     doc.Version,
		Uncommitted: doc.Uncommitted,
		Servers:     make(map[uint32]*Server, len(doc.Servers)),
		Relations:   make(map[uint32]*Relation, len(doc.Relations)),
		Shadows:     make(map[string]bool, len(doc.Shadows)),
		Twins:       doc.Twins,
		Remotely:    doc.Remotely,
		names:       make(map[string]struct{}, len(doc.Relations)),
		masks:       map[string]struct{}{},
	}
	for _, name := range doc.Shadows {
		s.Shadows[name] = true
	}
	for _, d := range doc.Servers {
		s.Servers[d.OID] = &Server{
			OID: d.OID, Name: d.Name, Wrapper: d.Wrapper,
			Options: options(append(d.Options, d.More...)),
		}
	}
	for i := range doc.Relations {
		r := doc.Relations[i].relation(s.Servers)
		if r.Kind == 'f' && r.Server == nil {
			return nil, fmt.Errorf("catalog: foreign table %q has no server in the snapshot", r.Name)
		}
		s.Relations[r.OID] = r
		s.names[r.Name] = struct{}{}
		if r.MaskView != "" {
			s.masks[r.Name] = struct{}{}
		}
	}
	for _, d := range doc.Counted {
		if s.counted == nil {
			s.counted = map[string][]*Counted{}
		}
		c := &Counted{Schema: d.Schema, Name: d.Name}
		for _, k := range d.Keys {
			c.Keys = append(c.Keys, CountedKey(k))
		}
		s.counted[d.Name] = append(s.counted[d.Name], c)
	}
	return s, nil
}

func (d *relationDoc) relation(servers map[uint32]*Server) *Relation {
	r := &Relation{
		OID: d.OID, Schema: d.Schema, Name: d.Name, Owner: d.Owner,
		Options: options(d.Options), Server: servers[d.Server],
		Columns: make([]Column, len(d.Columns)),
		Invoker: d.Invoker, Governed: d.Governed, MaskView: d.View,
	}
	if d.Kind != "" {
		r.Kind = d.Kind[0]
	}
	for i, c := range d.Columns {
		r.Columns[i] = Column{
			Num: c.Num, Name: c.Name, Type: c.Type, Typmod: c.Typmod, TypeName: c.TypeName,
			NotNull: c.NotNull, Collation: c.Collation, Collate: c.Collate, BytewiseC: c.BytewiseC,
			Generated: c.Generated, Options: options(c.Options),
		}
	}
	return r
}

// options splits "name=value" strings; of two with one name the later counts. It returns an empty map for none.
func options(list []string) map[string]string {
	m := make(map[string]string, len(list))
	for _, o := range list {
		name, value, _ := strings.Cut(o, "=")
		m[name] = value
	}
	return m
}

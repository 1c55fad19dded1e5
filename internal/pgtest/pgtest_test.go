package pgtest

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

func TestEncodeLines(t *testing.T) {
	got, err := encodeLines(`# a comment
Query {"String": "select 1"}
Bind {"Parameters": [null, "", "x", {"binary": "00ff"}], "ParameterFormatCodes": [0, 0, 0, 1]}
raw 7a 0000 0004

Sync`)
	if err != nil {
		t.Fatal(err)
	}
	const want = "510000000d73656c656374203100" +
		"42000000270000" + "00040000000000000001" + "0004" + "ffffffff" + "00000000" + "0000000178" + "0000000200ff" + "0000" +
		"7a00000004" + "5300000004"
	if hex.EncodeToString(got) != want {
		t.Errorf("got  %x\nwant %s", got, want)
	}
	for _, bad := range []string{"Nothing", `Query {"Text": "x"}`, "Describe", `Bind {"Parameters": [{}]}`, "raw x", "CopyData"} {
		if _, err := encodeLines(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

type oids struct{}

func (oids) relation(oid uint32) string { return fmt.Sprintf("rel%d", oid) }
func (oids) typeName(oid uint32) string { return fmt.Sprintf("type%d", oid) }

func TestPrintLines(t *testing.T) {
	for want, m := range map[string]pgproto3.BackendMessage{
		`BindComplete`: &pgproto3.BindComplete{},
		`DataRow ["a\tb",null,"",{"hex":"0001"},{"hex":"ff"}]`: &pgproto3.DataRow{Values: [][]byte{[]byte("a\tb"), nil, {}, {0, 1}, {255}}},
		`RowDescription [{"Name":"a","Table":"rel20000","Attr":2,"Type":23,"Size":4,"Mod":-1,"Format":1},{"Name":"b","Type":"type16400","Size":-1,"Mod":-1,"Format":0}]`: &pgproto3.RowDescription{
			Fields: []pgproto3.FieldDescription{{Name: []byte("a"), TableOID: 20000, TableAttributeNumber: 2, DataTypeOID: 23, DataTypeSize: 4, TypeModifier: -1, Format: 1},
				{Name: []byte("b"), DataTypeOID: 16400, DataTypeSize: -1, TypeModifier: -1}}},
		`ReadyForQuery "I"`: &pgproto3.ReadyForQuery{TxStatus: 'I'},
		`ErrorResponse {"Severity":"ERROR","Code":"42P01","Message":"relation \"<x>\" does not exist","Position":15}`: &pgproto3.ErrorResponse{
			Severity: "ERROR", Code: "42P01", Message: `relation "<x>" does not exist`, Position: 15, File: "parse_relation.c", Line: 1, Routine: "r"},
		`ParameterStatus ["TimeZone","UTC"]`:         &pgproto3.ParameterStatus{Name: "TimeZone", Value: "UTC"},
		`CopyOutResponse {"Format":1,"Columns":[1]}`: &pgproto3.CopyOutResponse{OverallFormat: 1, ColumnFormatCodes: []uint16{1}},
		`NotificationResponse ["ch","p"]`:            &pgproto3.NotificationResponse{PID: 9, Channel: "ch", Payload: "p"},
		`BackendKeyData`:                             &pgproto3.BackendKeyData{ProcessID: 5, SecretKey: []byte{1}},
	} {
		if got := (printer{names: oids{}}).line(m); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	short := printer{names: oids{}, codeOnly: true}.line(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: "m"})
	if want := `ErrorResponse {"Severity":"FATAL","Code":"08P01"}`; short != want {
		t.Errorf("got  %s\nwant %s", short, want)
	}
}

func TestParseTables(t *testing.T) {
	got, err := parseTables("a (x int, y numeric(3,1))\n(1, 2)\n(3, 4)\n\nb (z text)")
	if err != nil {
		t.Fatal(err)
	}
	const want = "CREATE TABLE a (x int, y numeric(3,1)); INSERT INTO a VALUES (1, 2), (3, 4); CREATE TABLE b (z text);"
	if len(got) != 2 || got[0].Create()+" "+got[1].Create() != want {
		t.Errorf("got %v", got)
	}
	for _, bad := range []string{"(1)", "a", "a (x int"} {
		if _, err := parseTables(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

package proxy

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// What is read without home must be what home would write; anything that home may refuse or spell otherwise is left to it.
func TestPlainText(t *testing.T) {
	s := &Session{status: map[string]string{"client_encoding": "UTF8", "server_encoding": "UTF8"}}
	for _, c := range []struct {
		oid    uint32
		value  string
		format int16
		want   string
		plain  bool
	}{
		{pgtype.Int4OID, "12", 0, "12", true},
		{pgtype.Int4OID, "-2147483648", 0, "-2147483648", true},
		{pgtype.Int4OID, "2147483648", 0, "", false},
		{pgtype.Int4OID, "012", 0, "", false},
		{pgtype.Int4OID, "+1", 0, "", false},
		{pgtype.Int4OID, "-0", 0, "", false},
		{pgtype.Int4OID, " 1", 0, "", false},
		{pgtype.Int4OID, "1_0", 0, "", false},
		{pgtype.Int4OID, "", 0, "", false},
		{pgtype.Int4OID, "\xff\xff\xff\xfe", 1, "-2", true},
		{pgtype.Int4OID, "\xff\xfe", 1, "", false},
		{pgtype.Int2OID, "\x80\x00", 1, "-32768", true},
		{pgtype.Int8OID, "\x00\x00\x00\x01\x00\x00\x00\x00", 1, "4294967296", true},
		{pgtype.Int8OID, "1", 2, "", false},
		{pgtype.TextOID, "añb", 0, "añb", true},
		{pgtype.VarcharOID, "", 1, "", true},
		{pgtype.TextOID, "a\xff", 0, "", false},
		{pgtype.TextOID, "a\x00", 0, "", false},
		{pgtype.BPCharOID, "a", 0, "", false},
		{pgtype.NumericOID, "1", 0, "", false},
	} {
		got, plain := s.plainText(c.oid, []byte(c.value), c.format)
		if plain != c.plain || plain && got != c.want {
			t.Errorf("type %d, format %d, %q: %q, %v; want %q, %v", c.oid, c.format, c.value, got, plain, c.want, c.plain)
		}
	}
	s.status["client_encoding"] = "LATIN1"
	if _, plain := s.plainText(pgtype.TextOID, []byte("a"), 0); plain {
		t.Error("a text in another encoding is taken as it is")
	}
}

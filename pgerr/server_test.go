package pgerr

import "testing"

// Errors of a server name it, and say what to look at unless they do so themselves.
func TestAtServer(t *testing.T) {
	for _, c := range []struct{ code, hint, want string }{
		{UndefinedTable, "", "Look at the options of the foreign table, or drop it and IMPORT FOREIGN SCHEMA again."},
		{FdwSchemaNotFound, "", "Look at what the server has, and at what the user of the mapping may see there."},
		{UnableToConnect, "", "Look at the options of the server and at whether it runs."},
		{UnableToConnect, "Its own.", "Its own."},
		{NumericOutOfRange, "", ""},
	} {
		plain := Hint(New(c.code, "failed"), "%s", c.hint)
		got := From(AtServer("lake", plain))
		if got.Hint != c.want || got.Where != `foreign server "lake"` {
			t.Errorf("%s with hint %q has hint %q and context %q", c.code, c.hint, got.Hint, got.Where)
		}
		if plain.Hint != c.hint || plain.Where != "" {
			t.Errorf("%s: the error itself has changed to %+v", c.code, plain)
		}
		if again := From(AtServer("lake", got)); *again != *got {
			t.Errorf("%s: named twice it is %+v", c.code, again)
		}
	}
}

package sqldb

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

// mySQLText keeps any text as it is.
const mySQLText = "longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

// keptWhole are the types of integers, whose names all these databases have.
var keptWhole = map[string]bool{"smallint": true, "integer": true, "bigint": true}

// mySQLKept is the type for a type. Floats have no NaN there, and dates no years before the first: they are texts.
func mySQLKept(t keep.Type) string {
	switch {
	case t.List:
		return mySQLText
	case keptWhole[t.Name]:
		return strings.Replace(t.Name, "integer", "int", 1)
	case t.Name == "boolean":
		return "tinyint(1)"
	case t.Name == "bytea":
		return "longblob"
	case t.Decimal(65) && t.Scale <= 30:
		return "decimal(" + strconv.Itoa(t.Precision) + "," + strconv.Itoa(t.Scale) + ")"
	}
	return mySQLText
}

// mySQLNamed reports whether a column can have a name: of characters of up to three bytes, and without a blank at the end.
func mySQLNamed(name string) bool {
	return name != "" && !strings.HasSuffix(name, " ") && !strings.ContainsFunc(name, func(r rune) bool { return r > 0xffff })
}

func (m *mySQL) keeping() *keeping {
	return &keeping{
		rules: keep.Rules{Engine: "MySQL", Remote: mySQLKept, Names: mySQLNamed, Folds: true},
		read:  readable, writable: m.writable, name: doubled('"'), table: doubled('"'), bind: bound, fill: fillMySQL, most: 65535, begin: "START TRANSACTION", commit: "COMMIT",
		listed: "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND LEFT(table_name, CHAR_LENGTH($1)) = $1 ORDER BY table_name",
	}
}

// writable opens a session that may change the database.
func (m *mySQL) writable(ctx context.Context) (*connection, error) {
	c, err := m.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.execute(ctx, "SET SESSION TRANSACTION READ WRITE"); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// doubled quotes names by a character that is doubled within.
func doubled(quote rune) func(string) string {
	q := string(quote)
	return func(name string) string { return q + strings.ReplaceAll(name, q, q+q) + q }
}

// bound makes a value of a text that home has written, by the type at home.
func bound(c keep.Column, text []byte) (any, error) {
	switch {
	case c.Type.List:
	case keptWhole[c.Type.Name]:
		return strconv.ParseInt(string(text), 10, 64)
	case c.Type.Name == "boolean":
		return int64(map[string]int{"t": 1}[string(text)]), nil
	case c.Type.Name == "bytea":
		if len(text) < 2 || text[0] != '\\' || text[1] != 'x' {
			return nil, pgerr.New(pgerr.InternalError, "bytes come in a form that is not known")
		}
		return hex.AppendDecode([]byte{}, text[2:])
	case strings.HasPrefix(c.Remote, "decimal"):
		return decimalBound(c, text)
	}
	return string(text), nil
}

// decimalBound refuses what is no number.
func decimalBound(c keep.Column, text []byte) (any, error) {
	if strings.Trim(string(text), "-.0123456789") != "" {
		return nil, pgerr.Hint(pgerr.New(pgerr.InvalidTextRepr, "%q cannot be kept as a %s", fmt.Sprintf("%.60s", text), c.Remote),
			"Cast the column in the query, for instance to text, or keep the result at home.")
	}
	return string(text), nil
}

package ddl

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// warning returns a message of severity WARNING for the client.
func warning(hint, format string, args ...any) *pgconn.PgError {
	return &pgconn.PgError{
		Severity: "WARNING", SeverityUnlocalized: "WARNING", Code: "01000",
		Message: fmt.Sprintf(format, args...), Hint: hint,
	}
}

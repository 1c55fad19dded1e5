package snowflake

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/snowflake/fake"
	"github.com/sluicedb/sluice/pgerr"
)

// TestParameters binds values, which are no part of the statement, and tags it.
func TestParameters(t *testing.T) {
	f := fake.Start(t)
	rows, err := readAs(t, open(t, server(f)), engines.Query{SQL: `SELECT CAST($1 AS INTEGER) + 1, $2, '$1 it\'s', $3 AS "$2", CAST($1 AS NUMBER(3,0)) /* $4 */`,
		Args: []*string{text("41"), nil, text(`a'b\`)}, Tag: engines.Tag{Role: "joe", ID: "7-1"}})
	if err != nil || strings.Join(rows[0], "|") != `42|(null)|$1 it's|a'b\|41` {
		t.Errorf("%v %v", rows, err)
	}
	if o := f.Orders()[0]; strings.Contains(o.SQL, "41") || o.Tag != "sluice id=7-1 role=joe" {
		t.Errorf("%+v", o)
	}
}

func TestNumbered(t *testing.T) {
	for sql, want := range map[string]string{
		"$1": ":1", "a = $12 AND b": "a = :12 AND b", `'$1\'$2' || $3`: `'$1\'$2' || :3`, `"$1""$2" = $1`: `"$1""$2" = :1`, `"a\" = $1`: `"a\" = :1`,
		"1 -- it's\n + $1": "1 -- it's\n + :1", "/* ' */ $1 /* $2": "/* ' */ :1 /* $2", "$": "$", "'open $1": "'open $1", "$0": "$0",
	} {
		if got := numbered(sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

func keyPair(t *testing.T) (*rsa.PrivateKey, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// TestCredentials logs in by each kind of secret, and says what to do where one is refused.
func TestCredentials(t *testing.T) {
	f := fake.Start(t)
	key, private := keyPair(t)
	_, other := keyPair(t)
	f.Accept(&key.PublicKey)
	for name, c := range map[string]struct {
		mapping map[string]string
		code    string
	}{
		"password":       {map[string]string{"user": fake.User, "password": fake.Password}, ""},
		"wrong password": {map[string]string{"user": fake.User, "password": "x"}, "28P01"},
		"key":            {map[string]string{"user": fake.User, "private_key": private}, ""},
		"other key":      {map[string]string{"user": fake.User, "private_key": other}, "28000"},
		"no key":         {map[string]string{"user": fake.User, "private_key": "-----"}, "28000"},
		"token":          {map[string]string{"token": fake.Token}, ""},
		"wrong token":    {map[string]string{"token": "x"}, "28000"},
		"programmatic":   {map[string]string{"token": fake.Pat, "token_kind": "programmatic"}, ""},
		"none":           {map[string]string{"user": fake.User}, "28000"},
		"other role":     {map[string]string{"user": fake.User, "password": fake.Password, "role": "OTHER"}, "28000"},
	} {
		s := server(f)
		s.Mapping = c.mapping
		e, err := Wrapper{}.Open(t.Context(), s)
		if err == nil {
			err = e.Ping(t.Context())
			_ = e.Close()
		}
		if code(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
		if pe := pgerr.From(err); err != nil && (pe.Hint == "" || !strings.Contains(pe.Where, "flake")) {
			t.Errorf("%s: %+v", name, pe)
		}
	}
	if n := f.Sessions.Load(); n != 0 {
		t.Errorf("%d sessions are still logged in", n)
	}
}

// TestEncryptedKey reads keys as openssl encrypts them.
func TestEncryptedKey(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl, which encrypts the key, is not installed")
	}
	key, private := keyPair(t)
	in := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(in, []byte(private), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-v2", "aes-256-cbc"}, {"-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA1"}} {
		out, err := exec.Command(openssl, append([]string{"pkcs8", "-topk8", "-in", in, "-passout", "pass:it's"}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parseKey(string(out), "it's"); err != nil || !got.Equal(key) {
			t.Errorf("%v: %v", args, err)
		}
		for _, phrase := range []string{"", "its"} {
			if _, err := parseKey(string(out), phrase); code(err) != "28000" {
				t.Errorf("%v, passphrase %q: %v", args, phrase, err)
			}
		}
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode([]byte(private))
	if got, err := parseKey(strings.TrimSpace(strings.Split(private, "-----")[2]), ""); err != nil || !got.Equal(key) || string(block.Bytes) != string(der) {
		t.Errorf("base64 alone: %v", err)
	}
}

// TestUnreachable names the server and what to look at, without waiting.
func TestUnreachable(t *testing.T) {
	f := fake.Start(t)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(nobody.Addr().String())
	_ = nobody.Close()
	for name, c := range map[string]struct{ option, value, code, hint string }{
		"no host":      {"port", port, "08001", "host"},
		"no account":   {"account", "other", "08001", "account"},
		"no database":  {"database", "OTHER", "HV00N", "database"},
		"no warehouse": {"warehouse", "OTHER", "HV00N", "warehouse"},
	} {
		s := server(f)
		s.Options = maps.Clone(s.Options)
		s.Options[c.option] = c.value
		began := time.Now()
		pe := pgerr.From(open(t, s).Ping(t.Context()))
		if pe == nil || pe.Code != c.code || !strings.Contains(pe.Hint, c.hint) || !strings.Contains(pe.Where, "flake") {
			t.Errorf("%s: %+v", name, pe)
		}
		if time.Since(began) > 20*time.Second {
			t.Errorf("%s: it took %v", name, time.Since(began))
		}
	}
}

// TestSessions uses sessions again, logs in anew where they have ended, and renews a token that has expired.
func TestSessions(t *testing.T) {
	f := fake.Start(t)
	e := open(t, server(f))
	ping := func(logins int) {
		t.Helper()
		if err := e.Ping(t.Context()); err != nil || f.Logins() != logins {
			t.Errorf("%v after %d logins, not %d", err, f.Logins(), logins)
		}
	}
	ping(1)
	ping(1)
	f.Expired.Store(1)
	ping(1)
	f.Revoke()
	ping(2)
	f.Busy.Store(1)
	ping(2)
	if _, err := read(t, e, "SELECT * FROM nope"); code(err) != "42P01" {
		t.Error(err)
	}
	ping(2)
	if err := e.Close(); err != nil || e.Ping(t.Context()) == nil {
		t.Error("a closed engine is still of use")
	}
}

// TestParts goes on where a part has broken off, and loses no row and doubles none.
func TestParts(t *testing.T) {
	f := fake.Start(t)
	f.ChunkRows = 5000
	e := open(t, server(f))
	for n, want := range map[int64]string{0: "", 1: "", 2: "", 3: "08006", 50: "08006"} {
		f.Cut.Store(n)
		rows, err := read(t, e, "SELECT i FROM range(20000) t(i)")
		f.Cut.Store(0)
		if code(err) != want {
			t.Errorf("cut %d times: %v", n, err)
		}
		if want == "" && (len(rows) != 20000 || rows[19999][0] != "19999") {
			t.Errorf("cut %d times: %d rows", n, len(rows))
		}
	}
}

// TestAbort ends a statement at the server whose client has left.
func TestAbort(t *testing.T) {
	f := fake.Start(t)
	e := open(t, server(f))
	for _, wait := range []time.Duration{0, 5 * time.Millisecond, 100 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), wait+time.Millisecond)
		_, err := e.Open(ctx, engines.Query{SQL: "SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(10000000) b(i)"})
		cancel()
		if code(err) != "57014" {
			t.Error(err)
		}
	}
	for deadline := time.Now().Add(30 * time.Second); f.Running.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a statement still runs")
		}
	}
	if f.Aborted.Load() == 0 {
		t.Error("nothing was aborted")
	}
}

func TestIntrospect(t *testing.T) {
	f := fake.Start(t, "CREATE SCHEMA shop", `CREATE TABLE shop.orders (id BIGINT NOT NULL, n SMALLINT, i INTEGER, day DATE, clock TIME, moment TIMESTAMPTZ, local TIMESTAMP, amount DECIMAL(12,2),
		wide DECIMAL(38,0), note VARCHAR, doc JSON, data BLOB, f DOUBLE, ok BOOLEAN, "Odd Name" VARCHAR, span INTERVAL)`,
		"COMMENT ON TABLE shop.orders IS 'what was ordered'", `CREATE VIEW shop."Mixed" AS SELECT id FROM shop.orders`)
	e := open(t, server(f))
	tables, err := e.Introspect(t.Context(), "shop")
	if err != nil || len(tables) != 2 || tables[0].Name != "Mixed" || tables[1].Name != "orders" || tables[1].Comment != "what was ordered" ||
		tables[1].Options["table_name"] != "ORDERS" || tables[1].Options["schema_name"] != "SHOP" || tables[0].Options["table_name"] != "Mixed" {
		t.Fatalf("%+v %v", tables, err)
	}
	var got []string
	for _, c := range tables[1].Columns {
		got = append(got, fmt.Sprintf("%s/%s %s %s %t", c.Name, c.Options["column_name"], c.Type, c.Options["remote_type"], c.NotNull))
	}
	want := `id/ID bigint NUMBER(18,0) true
n/N smallint NUMBER(4,0) false
i/I integer NUMBER(9,0) false
day/DAY date DATE false
clock/CLOCK time TIME false
moment/MOMENT timestamp with time zone TIMESTAMP_LTZ false
local/LOCAL timestamp TIMESTAMP_NTZ false
amount/AMOUNT numeric(12,2) NUMBER(12,2) false
wide/WIDE numeric(38,0) NUMBER(38,0) false
note/NOTE text TEXT false
doc/DOC jsonb VARIANT false
data/DATA bytea BINARY false
f/F double precision FLOAT false
ok/OK boolean BOOLEAN false
Odd Name/Odd Name text TEXT false
span/SPAN  VECTOR false`
	if strings.Join(got, "\n") != want {
		t.Error(strings.Join(got, "\n"))
	}
	s := server(f)
	s.Options["database"] = "lake"
	s.Options["binary_text"] = "true"
	if tables, err := open(t, s).Introspect(t.Context(), "SHOP"); err != nil || len(tables) != 2 || tables[0].Options["database_name"] != fake.Database ||
		tables[1].Columns[9].Options["remote_type"] != "TEXT(BINARY)" {
		t.Errorf("%+v %v", tables, err)
	}
	if _, err := e.Introspect(t.Context(), "nowhere"); code(err) != "HV00Q" {
		t.Error(err)
	}
}

// TestLocalNames has a name in capitals stay as it is where its lower case is another's.
func TestLocalNames(t *testing.T) {
	list := []engines.Column{{Name: "ID"}, {Name: "id"}, {Name: "A B"}, {Name: "MiXed"}, {Name: "N1"}, {Name: "1"}, {Name: "ÉTÉ"}}
	local(list, func(c *engines.Column) *string { return &c.Name })
	if got := fmt.Sprint(list); strings.Join(strings.Fields(got), "") == "" || list[0].Name != "ID" || list[1].Name != "id" || list[2].Name != "a b" || list[3].Name != "MiXed" ||
		list[4].Name != "n1" || list[5].Name != "1" || list[6].Name != "été" {
		t.Errorf("%+v", list)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		kind    engines.ObjectKind
		options map[string]string
		code    string
	}{
		{engines.ServerObject, map[string]string{"account": "a-b", "database": "D"}, ""},
		{engines.ServerObject, map[string]string{"protocol": "http", "host": "127.0.0.1"}, ""},
		{engines.ServerObject, map[string]string{"protocol": "http", "host": "x.example"}, "HV00D"},
		{engines.ServerObject, map[string]string{"protocol": "http"}, "HV00D"},
		{engines.MappingObject, map[string]string{"user": "x", "password": "y"}, ""},
		{engines.MappingObject, map[string]string{"token": "y"}, ""},
		{engines.MappingObject, map[string]string{"user": "x", "password": "y", "token": "z"}, "HV00D"},
		{engines.MappingObject, map[string]string{"password": "y"}, "HV00B"},
		{engines.MappingObject, map[string]string{"user": "x", "password": "y", "private_key_passphrase": "z"}, "HV00B"},
	} {
		if err := (Wrapper{}).Check(c.kind, c.options); code(err) != c.code {
			t.Errorf("%v: %v", c.options, err)
		}
	}
	for account, host := range map[string]string{"MyOrg-my_account": "myorg-my-account.snowflakecomputing.com", "xy12345.eu-central-1": "xy12345.eu-central-1.snowflakecomputing.com"} {
		if got := hostOf(map[string]string{"account": account}); got != host || checkAccount(account) != nil {
			t.Errorf("%s: %s", account, got)
		}
	}
	for name, want := range map[string]string{"SALES": "SALES", "Sales": `"Sales"`, `a"b`: `"a""b"`, "1A": `"1A"`} {
		if got := asIdentifier(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for v, ok := range map[string]bool{"x.example": true, "https://x": false, "x:443": false, "::1": true, "u@x": false} {
		if (checkHost(v) == nil) != ok {
			t.Errorf("host %s", v)
		}
	}
}

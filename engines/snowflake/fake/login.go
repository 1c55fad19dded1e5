package fake

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// demanded are the session parameters that Sluice must set.
var demanded = map[string]string{"TIMEZONE": "UTC", "GO_QUERY_RESULT_FORMAT": "ARROW", "QUOTED_IDENTIFIERS_IGNORE_CASE": "false", "STRICT_JSON_OUTPUT": "true"}

type loginData struct {
	Account       string         `json:"ACCOUNT_NAME"`
	Login         string         `json:"LOGIN_NAME"`
	Password      string         `json:"PASSWORD"`
	Authenticator string         `json:"AUTHENTICATOR"`
	Token         string         `json:"TOKEN"`
	Parameters    map[string]any `json:"SESSION_PARAMETERS"`
	Environment   struct {
		Platform []string `json:"PLATFORM"`
		Core     string   `json:"CORE_LOAD_ERROR"`
	} `json:"CLIENT_ENVIRONMENT"`
}

func (a *Account) login(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Data loginData `json:"data"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d, q := body.Data, r.URL.Query()
	for name, want := range demanded {
		if got := fmt.Sprint(d.Parameters[name]); got != want {
			a.refuse(w, "390400", "08001", "session parameter %s is %s", name, got)
			return
		}
	}
	switch {
	case d.Account != Name:
		http.Error(w, "no such account", http.StatusForbidden)
	case strings.Join(d.Environment.Platform, "") != "disabled" || !strings.Contains(d.Environment.Core, "disabled"):
		a.refuse(w, "390400", "08001", "the driver has looked around on its machine: %v", d.Environment)
	case !a.accepts(d):
		code, message := "390100", "Incorrect username or password was specified."
		if d.Authenticator == "SNOWFLAKE_JWT" {
			code, message = "390144", "JWT token is invalid. [0b2b]"
		} else if d.Token != "" {
			code, message = "390303", "Invalid OAuth access token. [0b2b]"
		}
		a.refuse(w, code, "08001", "%s", message)
	case q.Get("databaseName") != Database || q.Get("warehouse") != Warehouse:
		a.refuse(w, "390201", "08004", "The requested database does not exist or not authorized.")
	case q.Get("roleName") != Role:
		a.refuse(w, "390189", "08001", "Role '%s' specified in the connect string does not exist or not authorized.", q.Get("roleName"))
	default:
		a.admit(w)
	}
}

func (a *Account) admit(w http.ResponseWriter) {
	a.mu.Lock()
	a.logins++
	n := a.logins
	a.sessions[token(n)] = true
	a.mu.Unlock()
	a.Sessions.Add(1)
	a.answer(w, map[string]any{"token": "session-" + strconv.Itoa(n), "masterToken": "master-" + strconv.Itoa(n), "sessionId": n, "validityInSeconds": 3600,
		"masterValidityInSeconds": 14400, "parameters": []map[string]any{{"name": "TIMEZONE", "value": "UTC"}, {"name": "CLIENT_TELEMETRY_ENABLED", "value": true}},
		"sessionInfo": map[string]string{"databaseName": Database, "schemaName": "PUBLIC", "warehouseName": Warehouse, "roleName": Role}})
}

func (a *Account) accepts(d loginData) bool {
	switch d.Authenticator {
	case "", "SNOWFLAKE":
		return d.Login == User && d.Password == Password
	case "OAUTH":
		return d.Token == Token
	case "PROGRAMMATIC_ACCESS_TOKEN":
		return d.Token == Pat
	case "SNOWFLAKE_JWT":
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.key != nil && verify(d.Token, a.key)
	}
	return false
}

// verify looks at a token that a key pair has signed: for whom, by whom, and until when.
func verify(token string, key *rsa.PublicKey) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) != nil {
		return false
	}
	var claims struct {
		Issuer  string `json:"iss"`
		Subject string `json:"sub"`
		Expires int64  `json:"exp"`
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return false
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	print := sha256.Sum256(der)
	who := strings.ToUpper(Name + "." + User)
	return err == nil && claims.Subject == who && claims.Issuer == who+".SHA256:"+base64.StdEncoding.EncodeToString(print[:]) && claims.Expires > time.Now().Unix()
}

// renew replaces the token of a session by its master token.
func (a *Account) renew(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Old  string `json:"oldSessionToken"`
		Type string `json:"requestType"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	n, found := strings.CutPrefix(body.Old, "session-")
	if err != nil || !found || body.Type != "RENEW" || r.Header.Get("Authorization") != `Snowflake Token="master-`+n+`"` {
		a.refuse(w, "390114", "08001", "Authentication token has expired. The user must authenticate again.")
		return
	}
	a.answer(w, map[string]any{"sessionToken": body.Old, "masterToken": "master-" + n, "sessionId": 1, "validityInSecondsST": 3600, "validityInSecondsMT": 14400})
}

func (a *Account) logout(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("delete") != "true" {
		http.Error(w, "delete is not true", http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	delete(a.sessions, r.Header.Get("Authorization"))
	a.mu.Unlock()
	a.Sessions.Add(-1)
	a.answer(w, nil)
}

package fake

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Key makes a key of the account that the project accepts, as Google hands one out.
func (p *Project) Key(t testing.TB) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	p.key = key
	p.mu.Unlock()
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": Name, "private_key_id": "1", "client_email": Account, "token_uri": p.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// grant gives out a token for an assertion that the key has signed (RFC 7523).
func (p *Project) grant(w http.ResponseWriter, r *http.Request) {
	if why := p.looksAt(r.PostFormValue("assertion")); why != "" || r.PostFormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": "Invalid JWT Signature. " + why})
		return
	}
	token := fmt.Sprintf("ya29.granted-%d", p.Granted.Add(1))
	p.mu.Lock()
	p.tokens[token] = true
	p.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600})
}

// looksAt says what is wrong with an assertion.
func (p *Project) looksAt(assertion string) string {
	p.mu.Lock()
	key := p.key
	p.mu.Unlock()
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 || key == nil {
		return "no assertion"
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err != nil || rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], signature) != nil {
		return "signature"
	}
	var claims struct {
		Issuer   string `json:"iss"`
		Scope    string `json:"scope"`
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(body, &claims) != nil {
		return "claims"
	}
	if claims.Issuer != Account || claims.Scope != "https://www.googleapis.com/auth/bigquery" || claims.Audience != p.URL+"/token" || claims.Expires < time.Now().Unix() {
		return fmt.Sprintf("claims %+v", claims)
	}
	return ""
}

package databricks

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sluicedb/sluice/pgerr"
)

// credentials say who asks. A service principal gets a token by OAuth's client credentials (RFC 6749, section 4.4), which is
// used until shortly before it expires.
type credentials struct {
	token      string
	id, secret string

	mu      sync.Mutex
	granted string
	expires time.Time
}

// early is how long before its end a token is not used any more.
const early = time.Minute

// bearer returns the token of a request.
func (c *credentials) bearer(ctx context.Context, http *http.Client, base *url.URL) (string, error) {
	switch {
	case c.token != "":
		return c.token, nil
	case c.id == "":
		return "", pgerr.Hint(pgerr.New(pgerr.InvalidAuthorization, "no credentials"),
			`CREATE USER MAPPING … OPTIONS (token 'env:NAME'), or client_id and client_secret.`)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.granted != "" && time.Now().Before(c.expires) {
		return c.granted, nil
	}
	return c.grant(ctx, http, base)
}

func (c *credentials) grant(ctx context.Context, client *http.Client, base *url.URL) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {"all-apis"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base.JoinPath("/oidc/v1/token").String(), strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(url.QueryEscape(c.id), url.QueryEscape(c.secret))
	resp, err := client.Do(req)
	if err != nil {
		return "", unreachable(ctx, err)
	}
	defer resp.Body.Close()
	body, err := readBody(resp)
	if err != nil {
		return "", unreachable(ctx, err)
	}
	var got struct {
		AccessToken string  `json:"access_token"`
		ExpiresIn   float64 `json:"expires_in"`
	}
	if resp.StatusCode != http.StatusOK || json.Unmarshal(body, &got) != nil || got.AccessToken == "" {
		return "", refused(resp.StatusCode, body)
	}
	c.granted, c.expires = got.AccessToken, time.Now().Add(time.Duration(got.ExpiresIn)*time.Second-early)
	return c.granted, nil
}

// forget drops a token that was refused, so that the next request gets another.
func (c *credentials) forget(token string) (another bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != "" || c.granted != token {
		return c.token == ""
	}
	c.granted = ""
	return true
}

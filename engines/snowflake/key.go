package snowflake

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"hash"
	"strings"

	"github.com/sluicedb/sluice/pgerr"
)

// parseKey reads an RSA key in PKCS #8, as PEM or its base64 alone, encrypted or not.
func parseKey(text, passphrase string) (*rsa.PrivateKey, error) {
	der, err := decodeKey(text, passphrase)
	if err == nil {
		var key any
		if key, err = x509.ParsePKCS8PrivateKey(der); err == nil {
			if k, ok := key.(*rsa.PrivateKey); ok {
				return k, nil
			}
			err = errors.New("it is no RSA key")
		}
	}
	return nil, pgerr.Hint(pgerr.New(pgerr.InvalidAuthorization, `option "private_key" cannot be read: %s`, err),
		"It names a file or variable with an RSA key in PKCS #8 (BEGIN PRIVATE KEY, or BEGIN ENCRYPTED PRIVATE KEY with option private_key_passphrase).")
}

func decodeKey(text, passphrase string) ([]byte, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			return nil, errors.New("it is neither PEM nor base64")
		}
		return der, nil
	}
	switch block.Type {
	case "PRIVATE KEY":
		return block.Bytes, nil
	case "ENCRYPTED PRIVATE KEY":
		if passphrase == "" {
			return nil, errors.New("it is encrypted, and there is no passphrase")
		}
		return decryptKey(block.Bytes, []byte(passphrase))
	}
	return nil, errors.New("it is a PEM of " + block.Type)
}

// Of RFC 5958 and RFC 8018: an encrypted key, and the parameters of PBES2.
type (
	encryptedKey struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	pbes2 struct{ Derivation, Encryption pkix.AlgorithmIdentifier }
	pbkdf struct {
		Salt       []byte
		Iterations int
		Length     int                      `asn1:"optional"`
		Function   pkix.AlgorithmIdentifier `asn1:"optional"`
	}
)

var (
	oidPBES2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	// keySizes are those of AES in CBC mode.
	keySizes = map[string]int{"2.16.840.1.101.3.4.1.2": 16, "2.16.840.1.101.3.4.1.22": 24, "2.16.840.1.101.3.4.1.42": 32}
	hashes   = map[string]func() hash.Hash{"": sha1.New, "1.2.840.113549.2.7": sha1.New, "1.2.840.113549.2.9": sha256.New}

	errScheme = errors.New("it is encrypted by other means than PBES2 with AES and PBKDF2")
	errPhrase = errors.New("the passphrase is wrong")
)

// mostIterations bounds the work that a file can ask for.
const mostIterations = 10_000_000

// decryptKey decrypts by what openssl pkcs8 -v2 makes.
func decryptKey(der, passphrase []byte) ([]byte, error) {
	var e encryptedKey
	var scheme pbes2
	var derivation pbkdf
	var iv []byte
	if _, err := asn1.Unmarshal(der, &e); err != nil {
		return nil, err
	}
	if !e.Algorithm.Algorithm.Equal(oidPBES2) {
		return nil, errScheme
	}
	if _, err := asn1.Unmarshal(e.Algorithm.Parameters.FullBytes, &scheme); err != nil {
		return nil, errScheme
	}
	if _, err := asn1.Unmarshal(scheme.Derivation.Parameters.FullBytes, &derivation); err != nil {
		return nil, errScheme
	}
	if _, err := asn1.Unmarshal(scheme.Encryption.Parameters.FullBytes, &iv); err != nil {
		return nil, errScheme
	}
	size, sum := keySizes[scheme.Encryption.Algorithm.String()], hashes[derivation.Function.Algorithm.String()]
	if size == 0 || sum == nil || len(iv) != aes.BlockSize || len(e.Data) == 0 || len(e.Data)%aes.BlockSize != 0 || derivation.Iterations > mostIterations {
		return nil, errScheme
	}
	key, err := pbkdf2.Key(sum, string(passphrase), derivation.Salt, derivation.Iterations, size)
	if err != nil {
		return nil, err
	}
	return decryptCBC(key, iv, e.Data)
}

// decryptCBC also takes away the padding, which is wrong where the key is.
func decryptCBC(key, iv, data []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, data)
	n := int(plain[len(plain)-1])
	if n < 1 || n > aes.BlockSize || !bytes.HasSuffix(plain, bytes.Repeat([]byte{byte(n)}, n)) {
		return nil, errPhrase
	}
	return plain[:len(plain)-n], nil
}

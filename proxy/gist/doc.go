// Package gist tells what statements are about without the data in them: a fingerprint that is the same for statements that
// differ in literals alone, and the text without these.
package gist

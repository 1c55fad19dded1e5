// Package govern turns each reference to a relation of ours into its governed form, before anything else looks at it:
// what a role must hold to use it, and what stands for it in the statement. Governed is that form of a reference that
// is read; Write says what one that is written to needs. Row filters and masks will have their place in Governed.
//
// The one rule: no relation gets into a plan but through here.
package govern

// Package govern turns each reference to a relation of ours into its governed form, before anything else looks at it:
// what a role must hold to use it (Governed, Read, Write), and which rows and values of it the role may see (Rules, Resolve).
// Resolve puts values in place of what depends on the session alone; Inline and Salt bring the functions of the mask library
// into a form that engines can be sent.
//
// The one rule: no relation gets into a plan but through here.
package govern

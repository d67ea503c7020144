// Package timings reads what a 1C application measured itself: exports of the register of timings that its standard
// library keeps (subsystem "performance monitor"). Each file is
//
//	Performance ── KeyOperation (name, target, per unit or not) ── measurement (begin, duration, error)
//
// in XML, of the versions 1.0.0.0 to 1.0.0.4 and with fields as elements or attributes.
package timings

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// formats are the pictures that draw can write.
var formats = map[string]func(io.Writer, *graph){"text": writeText, "mermaid": writeMermaid, "dot": writeDot}

// summary is the line to compare two commits by.
func (g *graph) summary() string {
	return fmt.Sprintf("%s: %d rooms, %d arrows, %d climbing (by %s)",
		g.folder, len(g.rooms), len(g.arrows), len(g.climbing()), g.order)
}

func writeText(w io.Writer, g *graph) {
	fmt.Fprintln(w, g.summary())
	floors := g.floors()
	for i, rooms := range slices.Backward(floors) {
		fmt.Fprintf(w, "\nfloor %d\n", i+1)
		for _, room := range rooms {
			fmt.Fprintf(w, "  %-24s %s\n", room, g.targets(room))
		}
	}
	for i, a := range g.climbing() {
		if i == 0 {
			fmt.Fprint(w, "\nclimbing\n")
		}
		fmt.Fprintf(w, "  %s -> %s (%d)\n", a.from, a.to, g.arrows[a])
	}
	fmt.Fprintln(w)
}

// targets lists where a room points down to, and how often.
func (g *graph) targets(room string) string {
	var targets []string
	for _, a := range g.sorted() {
		if a.from == room && !g.climbs(a) {
			targets = append(targets, fmt.Sprintf("%s (%d)", a.to, g.arrows[a]))
		}
	}
	if len(targets) == 0 {
		return ""
	}
	return "-> " + strings.Join(targets, ", ")
}

func writeMermaid(w io.Writer, g *graph) {
	fmt.Fprintf(w, "%%%% %s\ngraph TD\n", g.summary())
	for i, room := range g.rooms {
		fmt.Fprintf(w, "  r%d[%q]\n", i, room)
	}
	for _, a := range g.sorted() {
		line := "-->"
		if g.climbs(a) {
			line = "-. climbs .->"
		}
		fmt.Fprintf(w, "  r%d %s r%d\n", slices.Index(g.rooms, a.from), line, slices.Index(g.rooms, a.to))
	}
}

func writeDot(w io.Writer, g *graph) {
	fmt.Fprintf(w, "// %s\ndigraph %q {\n  node [shape=box]\n", g.summary(), g.folder)
	for _, rooms := range g.floors() {
		fmt.Fprint(w, "  { rank=same;")
		for _, room := range rooms {
			fmt.Fprintf(w, " %q;", room)
		}
		fmt.Fprintln(w, " }")
	}
	for _, a := range g.sorted() {
		style := ""
		if g.climbs(a) {
			style = ", color=red, constraint=false"
		}
		fmt.Fprintf(w, "  %q -> %q [label=%d%s]\n", a.from, a.to, g.arrows[a], style)
	}
	fmt.Fprintln(w, "}")
}

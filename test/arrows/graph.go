package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// graph is rooms and the arrows between them.
type graph struct {
	folder string
	rooms  []string
	arrows map[arrow]int // how many imports, or names, an arrow stands for
	order  string        // what says which arrow climbs
	rank   map[string]int
}

type arrow struct{ from, to string }

func newGraph(folder string) *graph {
	return &graph{folder: folder, arrows: map[arrow]int{}}
}

// packageGraph makes a room of each folder that lies depth levels below a folder.
func packageGraph(imports []importLine, folder string, depth int, rules *ruleSet) (*graph, error) {
	g := newGraph(folder)
	rooms := map[string]bool{}
	room := func(pkg string) (string, bool) {
		if !within(pkg, folder) || isTestSupport(pkg) {
			return "", false
		}
		parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(pkg, folder), "/"), "/")
		name := strings.Join(parts[:min(depth, len(parts))], "/")
		if name == "" {
			name = "."
		}
		rooms[name] = true
		return name, true
	}
	counted := map[[2]string]bool{} // a package that imports another from three files imports it once
	for _, i := range imports {
		if i.test {
			continue
		}
		from, inside := room(i.from)
		to, alsoInside := room(i.to)
		if pair := [2]string{i.from, i.to}; inside && alsoInside && from != to && !counted[pair] {
			counted[pair] = true
			g.arrows[arrow{from, to}]++
		}
	}
	g.rooms = slices.Sorted(maps.Keys(rooms))
	if len(g.rooms) == 0 {
		return nil, fmt.Errorf("no packages in %s", folder)
	}
	g.rankBy(rules)
	return g, nil
}

// rankBy takes the order that the rules give for the folder, if they name all its rooms.
func (g *graph) rankBy(rules *ruleSet) {
	for _, o := range rules.orders {
		if o.place != g.folder {
			continue
		}
		rank := map[string]int{}
		for _, room := range g.rooms {
			floor, _, named := o.floor(path.Join(g.folder, room))
			if !named {
				break
			}
			rank[room] = floor
		}
		if len(rank) == len(g.rooms) {
			g.rank, g.order = rank, rulesFile
			return
		}
	}
	g.rankByFewest()
}

// climbs says whether an arrow points to a room above its own.
func (g *graph) climbs(a arrow) bool { return g.rank[a.from] > g.rank[a.to] }

func (g *graph) climbing() []arrow {
	var found []arrow
	for _, a := range g.sorted() {
		if g.climbs(a) {
			found = append(found, a)
		}
	}
	return found
}

func (g *graph) sorted() []arrow {
	return slices.SortedFunc(maps.Keys(g.arrows), func(a, b arrow) int {
		return strings.Compare(a.from+"\x00"+a.to, b.from+"\x00"+b.to)
	})
}

// rankByFewest searches the order that leaves the fewest arrows climbing: greedily (Eades, Lin, Smyth 1993: sinks to
// the bottom, sources to the top, else the room with the most arrows out), then by moving single rooms to better
// places. The least feedback arc set is NP-hard, so a graph with circles may do with fewer still.
func (g *graph) rankByFewest() {
	sequence := g.greedy()
	for g.improve(sequence) {
	}
	g.rank, g.order = map[string]int{}, "the order that leaves the fewest climbing"
	for i, room := range sequence {
		g.rank[room] = i
	}
}

func (g *graph) greedy() []string {
	rest := slices.Clone(g.rooms)
	var top, bottom []string
	for len(rest) > 0 {
		best, bestSurplus, sink := 0, -len(g.arrows)-1, -1
		for i, room := range rest {
			out, in := g.degrees(room, rest)
			if out == 0 {
				sink = i
				break
			}
			if in == 0 {
				out += len(g.arrows)
			}
			if out-in > bestSurplus {
				best, bestSurplus = i, out-in
			}
		}
		if sink >= 0 {
			bottom = append(bottom, rest[sink])
			rest = slices.Delete(rest, sink, sink+1)
			continue
		}
		top = append(top, rest[best])
		rest = slices.Delete(rest, best, best+1)
	}
	slices.Reverse(bottom)
	return append(top, bottom...)
}

// degrees counts a room's arrows out and in among some rooms.
func (g *graph) degrees(room string, among []string) (out, in int) {
	for _, other := range among {
		if g.arrows[arrow{room, other}] > 0 {
			out++
		}
		if g.arrows[arrow{other, room}] > 0 {
			in++
		}
	}
	return out, in
}

// improve moves one room to where it saves climbing arrows; false if no single move does.
func (g *graph) improve(sequence []string) bool {
	for at, room := range sequence {
		best, saved := at, 0
		for _, step := range []int{-1, 1} {
			balance := 0
			for to := at + step; to >= 0 && to < len(sequence); to += step {
				// Passing a room downwards makes an arrow to it climb and one from it fall.
				balance += step * (g.count(sequence[to], room) - g.count(room, sequence[to]))
				if balance > saved {
					best, saved = to, balance
				}
			}
		}
		if best == at {
			continue
		}
		moved := slices.Insert(slices.Delete(slices.Clone(sequence), at, at+1), best, room)
		copy(sequence, moved)
		return true
	}
	return false
}

func (g *graph) count(from, to string) int {
	if g.arrows[arrow{from, to}] > 0 {
		return 1
	}
	return 0
}

// floors puts each room one above the highest that it points down to; floor 1 is the ground.
func (g *graph) floors() [][]string {
	height := map[string]int{}
	var heightOf func(room string) int
	heightOf = func(room string) int {
		if height[room] > 0 {
			return height[room]
		}
		height[room] = 1
		highest := 0
		for a := range g.arrows {
			if a.from == room && !g.climbs(a) {
				highest = max(highest, heightOf(a.to))
			}
		}
		height[room] = highest + 1
		return height[room]
	}
	var floors [][]string
	for _, room := range g.rooms {
		for len(floors) < heightOf(room) {
			floors = append(floors, nil)
		}
		floors[heightOf(room)-1] = append(floors[heightOf(room)-1], room)
	}
	return floors
}

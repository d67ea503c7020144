package confusion

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/ground/host/topology"
)

// contradiction begins the name of one that is judged like a finding: it names a fault that has no price.
const contradiction = "contradiction: "

// Sockets and nodes of the virtual machine that was slow.
const lyingSockets, lyingNodes = 24, 2

// checkTopology plants the files of a machine that does not exist.
func checkTopology(_ context.Context, s *scene) error {
	root := filepath.Join(s.dir, "lies")
	s.undo = append(s.undo, func() error { return os.RemoveAll(root) })
	if err := PlantTopology(root); err != nil {
		return err
	}
	s.root = root
	s.checked(func(context.Context) (string, bool) {
		shape, err := topology.Read(root)
		return fmt.Sprintf("the files show %d sockets and %d nodes", shape.Sockets, shape.Nodes),
			err == nil && shape.Sockets == lyingSockets && shape.Nodes == lyingNodes
	})
	return nil
}

// PlantTopology writes the files of the machine that was slow: 24 sockets of one core, nodes of twelve.
func PlantTopology(root string) error {
	for id := range lyingSockets {
		dir := filepath.Join(root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology", id))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for name, value := range map[string]int{"physical_package_id": id, "core_id": 0} {
			if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendln(nil, value), 0o644); err != nil {
				return err
			}
		}
	}
	for id := range lyingNodes {
		if err := os.MkdirAll(filepath.Join(root, fmt.Sprintf("sys/devices/system/node/node%d", id)),
			0o755); err != nil {
			return err
		}
	}
	return nil
}

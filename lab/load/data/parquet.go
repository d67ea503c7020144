package data

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// ReadParquet reads the columns that have one plain value in each row. Nulls are NULL.
func ReadParquet(r io.ReaderAt, size int64) (t *Table, err error) {
	defer func() { // the library panics on some files that are none
		if p := recover(); p != nil {
			t, err = nil, &Mistake{Says: fmt.Sprintf("not a Parquet file that can be read: %v", p)}
		}
	}()
	file, err := parquet.OpenFile(r, size)
	if err != nil {
		return nil, &Mistake{Says: fmt.Sprintf("not a Parquet file: %v", err)}
	}
	names, leaves := plainColumns(file.Schema())
	t, keep, err := NewTable(names)
	if err != nil {
		return nil, &Mistake{Says: err.Error()}
	}
	place := map[int]int{} // of a leaf in the table
	for column, at := range keep {
		place[leaves[at].ColumnIndex] = column
	}
	buffer := make([]parquet.Row, 256)
	for _, group := range file.RowGroups() {
		if err := t.addGroup(group, place, leaves, keep, buffer); err != nil {
			return nil, err
		}
	}
	if t.Rows == 0 {
		return nil, &Mistake{Says: "there is no row"}
	}
	return t, nil
}

// plainColumns are those of the first level that do not repeat.
func plainColumns(schema *parquet.Schema) (names []string, leaves []parquet.LeafColumn) {
	for _, path := range schema.Columns() {
		leaf, found := schema.Lookup(path...)
		if found && len(path) == 1 && !leaf.Node.Repeated() && supported(leaf.Node.Type()) {
			names, leaves = append(names, path[0]), append(leaves, leaf)
		}
	}
	return names, leaves
}

func supported(t parquet.Type) bool {
	if _, time := logical[*format.TimeType](t); time {
		return false
	}
	switch t.Kind() {
	case parquet.Boolean, parquet.Int32, parquet.Int64, parquet.Float, parquet.Double, parquet.ByteArray:
		return true
	case parquet.FixedLenByteArray:
		_, decimal := logical[*format.DecimalType](t)
		return decimal
	}
	return false
}

func logical[T any](t parquet.Type) (value T, is bool) {
	if l := t.LogicalType(); l != nil {
		value, is = l.Value.(T)
	}
	return value, is
}

func (t *Table) addGroup(group parquet.RowGroup, place map[int]int, leaves []parquet.LeafColumn, keep []int,
	buffer []parquet.Row) error {
	rows := group.Rows()
	defer rows.Close()
	for {
		n, err := rows.ReadRows(buffer)
		for _, row := range buffer[:n] {
			for _, v := range row {
				column, kept := place[v.Column()]
				if !kept {
					continue
				}
				text, wrong := textOf(v, leaves[keep[column]].Node.Type())
				if wrong == nil {
					wrong = t.add(column, text, v.IsNull())
				}
				if wrong != nil {
					return &Mistake{Says: fmt.Sprintf("row %d, column %s: %v", t.Rows+1, t.Columns[column], wrong),
						Hint: hintOf(wrong)}
				}
			}
			t.Rows++
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &Mistake{Says: fmt.Sprintf("read row %d: %v", t.Rows+1, err)}
		case n == 0:
			return &Mistake{Says: fmt.Sprintf("read row %d: no data", t.Rows+1)}
		}
	}
}

// textOf a value as PostgreSQL reads it.
func textOf(v parquet.Value, t parquet.Type) ([]byte, error) {
	if v.IsNull() {
		return nil, nil
	}
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.AppendBool(nil, v.Boolean()), nil
	case parquet.Int32, parquet.Int64:
		return wholeText(v, t), nil
	case parquet.Float:
		return strconv.AppendFloat(nil, float64(v.Float()), 'g', -1, 32), nil
	case parquet.Double:
		return strconv.AppendFloat(nil, v.Double(), 'g', -1, 64), nil
	}
	if d, is := logical[*format.DecimalType](t); is {
		return decimalText(bigOf(v.ByteArray()), int(d.Scale)), nil
	}
	if !utf8.Valid(v.ByteArray()) {
		return nil, errors.New("the value is not text in UTF-8")
	}
	return v.ByteArray(), nil
}

func wholeText(v parquet.Value, t parquet.Type) []byte {
	n := v.Int64()
	if v.Kind() == parquet.Int32 {
		n = int64(v.Int32())
	}
	if i, is := logical[*format.IntType](t); is && !i.IsSigned {
		if v.Kind() == parquet.Int32 {
			return strconv.AppendUint(nil, uint64(v.Uint32()), 10)
		}
		return strconv.AppendUint(nil, v.Uint64(), 10)
	}
	if d, is := logical[*format.DecimalType](t); is {
		return decimalText(big.NewInt(n), int(d.Scale))
	}
	if _, is := logical[*format.DateType](t); is {
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(n)).AppendFormat(nil, time.DateOnly)
	}
	if at, is := logical[*format.TimestampType](t); is {
		zone := ""
		if at.IsAdjustedToUTC {
			zone = "Z07:00"
		}
		return moment(n, at.Unit.String()).AppendFormat(nil, "2006-01-02T15:04:05.999999999"+zone)
	}
	return strconv.AppendInt(nil, n, 10)
}

func moment(n int64, unit string) time.Time {
	switch unit {
	case "MILLIS":
		return time.UnixMilli(n).UTC()
	case "MICROS":
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}

// bigOf is a whole number in two's complement, the highest byte first.
func bigOf(bytes []byte) *big.Int {
	n := new(big.Int).SetBytes(bytes)
	if len(bytes) > 0 && bytes[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
	}
	return n
}

func decimalText(unscaled *big.Int, scale int) []byte {
	if scale <= 0 {
		return unscaled.Append(nil, 10)
	}
	r := new(big.Rat).SetFrac(unscaled, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
	return []byte(r.FloatString(scale))
}

package script

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Environment is the input of an expression.
type Environment struct {
	Variables map[string]Value
	RNG       *rand.Rand
	// Debug receives the argument of debug(); nil: it is dropped.
	Debug func(string)
}

// Eval evaluates the expression.
func (e Expression) Eval(env *Environment) (Value, error) { return e.root.eval(env) }

type node interface {
	eval(*Environment) (Value, error)
	variables(add func(name string)) // that it refers to
}

type constant struct{ Value }

func (c constant) eval(*Environment) (Value, error) { return c.Value, nil }

type variable string

func (v variable) eval(env *Environment) (Value, error) {
	value, known := env.Variables[string(v)]
	if !known {
		return Value{}, fmt.Errorf("undefined variable %q", string(v))
	}
	return value.read()
}

// lazy is AND or OR: the right side is evaluated only if the left does not decide.
type lazy struct {
	or          bool
	left, right node
}

func (l lazy) eval(env *Environment) (Value, error) {
	left, err := l.left.eval(env)
	if err != nil || left.Null() {
		return left, err
	}
	decided, err := left.asBool()
	if err != nil || decided == l.or {
		return boolOf(decided), err
	}
	right, err := l.right.eval(env)
	if err != nil || right.Null() {
		return right, err
	}
	b, err := right.asBool()
	return boolOf(b), err
}

type cases struct {
	when, then []node
	otherwise  node
}

func (c cases) eval(env *Environment) (Value, error) {
	for i, when := range c.when {
		v, err := when.eval(env)
		if err != nil {
			return v, err
		}
		if v.truth() {
			return c.then[i].eval(env)
		}
	}
	return c.otherwise.eval(env)
}

// call applies a function or an operator to values.
type call struct {
	name string
	args []node
}

func (c call) eval(env *Environment) (Value, error) {
	args, anyNull := make([]Value, len(c.args)), false
	for i, arg := range c.args {
		var err error
		if args[i], err = arg.eval(env); err != nil {
			return Value{}, err
		}
		anyNull = anyNull || args[i].Null()
	}
	if anyNull && c.name != "is" && c.name != "debug" {
		return Value{}, nil
	}
	if f, is := functions[c.name]; is {
		return f.do(env, args)
	}
	return operate(c.name, args)
}

func operate(op string, args []Value) (Value, error) {
	switch op {
	case "is":
		return boolOf(args[0].kind == args[1].kind && args[0].b == args[1].b), nil
	case "not":
		b, err := args[0].asBool()
		return boolOf(!b), err
	case "&", "|", "#", "<<", ">>":
		return bitwise(op, args)
	}
	if op != "%" && (args[0].kind == double || args[1].kind == double) {
		return doubles(op, args)
	}
	return integers(op, args)
}

func twoArgs[T any](args []Value, as func(Value) (T, error)) (a, b T, err error) {
	a, err1 := as(args[0])
	b, err2 := as(args[1])
	return a, b, cmpErr(err1, err2)
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// bitwise shifts by the low six bits of the right side, as the hardware under pgbench does.
func bitwise(op string, args []Value) (Value, error) {
	a, b, err := twoArgs(args, Value.asInt)
	if err != nil {
		return Value{}, err
	}
	switch op {
	case "&":
		return Int(a & b), nil
	case "|":
		return Int(a | b), nil
	case "#":
		return Int(a ^ b), nil
	case "<<":
		return Int(a << (b & 63)), nil
	}
	return Int(a >> (b & 63)), nil
}

func doubles(op string, args []Value) (Value, error) {
	a, b, err := twoArgs(args, Value.asDouble)
	if err != nil {
		return Value{}, err
	}
	switch op {
	case "+":
		return Double(a + b), nil
	case "-":
		return Double(a - b), nil
	case "*":
		return Double(a * b), nil
	case "/":
		return Double(a / b), nil
	}
	return compare(op, a, b), nil
}

func compare[T int64 | float64](op string, a, b T) Value {
	switch op {
	case "=":
		return boolOf(a == b)
	case "<>":
		return boolOf(a != b)
	case "<=":
		return boolOf(a <= b)
	}
	return boolOf(a < b)
}

var errDivision = errors.New("division by zero")

func integers(op string, args []Value) (Value, error) {
	a, b, err := twoArgs(args, Value.asInt)
	if err != nil {
		return Value{}, err
	}
	outside := func(wrong bool, v int64) (Value, error) {
		if wrong {
			names := map[string]string{"+": "add", "-": "sub", "*": "mul", "/": "div"}
			return Value{}, fmt.Errorf("bigint %s out of range", names[op])
		}
		return Int(v), nil
	}
	switch op {
	case "+":
		return outside(addOverflows(a, b), a+b)
	case "-":
		return outside(b == math.MinInt64 && a >= 0 || b != math.MinInt64 && addOverflows(a, -b), a-b)
	case "*":
		return outside(mulOverflows(a, b), a*b)
	case "/", "%":
		if b == 0 {
			return Value{}, errDivision
		}
		if op == "%" {
			return Int(a % b), nil
		}
		return outside(a == math.MinInt64 && b == -1, a/b)
	}
	return compare(op, a, b), nil
}

func addOverflows(a, b int64) bool {
	sum := a + b
	return (sum > a) != (b > 0) && b != 0
}

func mulOverflows(a, b int64) bool {
	if a == 0 || b == 0 {
		return false
	}
	if a == -1 && b == math.MinInt64 || b == -1 && a == math.MinInt64 {
		return true
	}
	return a*b/b != a
}

func unknownFunction(name string) error {
	return fmt.Errorf("no function %q; there are %s", name, strings.Join(functionNames(), ", "))
}

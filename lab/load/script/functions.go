package script

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

type function struct {
	least, most int // number of arguments
	do          func(env *Environment, args []Value) (Value, error)
}

func (f function) takes() string {
	switch {
	case f.most == math.MaxInt:
		return fmt.Sprintf("%d arguments or more", f.least)
	case f.least != f.most:
		return fmt.Sprintf("%d to %d arguments", f.least, f.most)
	case f.least == 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", f.least)
}

var functions map[string]function

func functionNames() []string { return slices.Sorted(maps.Keys(functions)) }

func init() {
	functions = map[string]function{
		"abs":    {1, 1, abs},
		"debug":  {1, 1, debug},
		"double": ofDouble(func(d float64) float64 { return d }),
		"exp":    ofDouble(math.Exp),
		"ln":     ofDouble(math.Log),
		"sqrt":   ofDouble(math.Sqrt),
		"int": {1, 1, func(_ *Environment, a []Value) (Value, error) {
			i, err := a[0].asInt()
			return Int(i),
				err
		}},
		"greatest": {1, math.MaxInt, extremum(func(a, b float64) bool {
			return a > b
		}, func(a, b int64) bool { return a > b })},
		"least": {1, math.MaxInt, extremum(func(a, b float64) bool {
			return a < b
		}, func(a, b int64) bool { return a < b })},
		"mod":   {2, 2, func(_ *Environment, a []Value) (Value, error) { return integers("%", a) }},
		"pi":    {0, 0, func(*Environment, []Value) (Value, error) { return Double(math.Pi), nil }},
		"pow":   {2, 2, power},
		"power": {2, 2, power},

		"random":             {2, 2, random},
		"random_exponential": {3, 3, randomWith(checkExponential, exponential)},
		"random_gaussian":    {3, 3, randomWith(checkGaussian, gaussian)},
		"random_zipfian":     {3, 3, randomWith(checkZipfian, zipfian)},

		"hash":         {1, 2, hash(murmur2)},
		"hash_murmur2": {1, 2, hash(murmur2)},
		"hash_fnv1a":   {1, 2, hash(fnv1a)},
		"permute":      {2, 3, permutation},
	}
}

func ofDouble(f func(float64) float64) function {
	return function{1, 1, func(_ *Environment, a []Value) (Value, error) {
		d, err := a[0].asDouble()
		return Double(f(d)), err
	}}
}

func abs(_ *Environment, a []Value) (Value, error) {
	if a[0].kind == integer {
		return Int(max(a[0].i, -a[0].i)), nil // the minimum integer has no positive counterpart and stays
	}
	d, err := a[0].asDouble()
	if d < 0 { // unlike math.Abs, pgbench leaves -0
		d = -d
	}
	return Double(d), err
}

func debug(env *Environment, a []Value) (Value, error) {
	if env.Debug != nil {
		text := a[0].kind.String()
		if !a[0].Null() {
			text += " " + a[0].String()
		}
		env.Debug(text)
	}
	return a[0], nil
}

func power(_ *Environment, a []Value) (Value, error) {
	x, y, err := twoArgs(a, Value.asDouble)
	return Double(math.Pow(x, y)), err
}

// extremum is a double if any argument is.
func extremum(beyond func(a, b float64) bool, beyondInt func(a, b int64) bool) func(*Environment, []Value) (Value,
	error) {
	return func(_ *Environment, a []Value) (Value, error) {
		if slices.ContainsFunc(a, func(v Value) bool { return v.kind == double }) {
			d, err := extremeArg(a, Value.asDouble, beyond)
			return Double(d), err
		}
		i, err := extremeArg(a, Value.asInt, beyondInt)
		return Int(i), err
	}
}

func extremeArg[T any](args []Value, as func(Value) (T, error), beyond func(a, b T) bool) (best T, err error) {
	for k, arg := range args {
		x, err := as(arg)
		if err != nil {
			return best, err
		}
		if k == 0 || beyond(x, best) {
			best = x
		}
	}
	return best, nil
}

// seedOf is the argument after n, or the run's default seed.
func seedOf(env *Environment, args []Value, n int) (int64, error) {
	if len(args) > n {
		return args[n].asInt()
	}
	v, known := env.Variables[DefaultSeed]
	if !known {
		return 0, nil
	}
	if v, err := v.read(); err == nil {
		return v.asInt()
	}
	return 0, nil
}

func hash(algorithm func(value, seed uint64) uint64) func(*Environment, []Value) (Value, error) {
	return func(env *Environment, a []Value) (Value, error) {
		value, err := a[0].asInt()
		if err != nil {
			return Value{}, err
		}
		seed, err := seedOf(env, a, 1)
		return Int(int64(algorithm(uint64(value), uint64(seed)))), err
	}
}

func permutation(env *Environment, a []Value) (Value, error) {
	value, size, err := twoArgs(a, Value.asInt)
	if err != nil {
		return Value{}, err
	}
	seed, err := seedOf(env, a, 2)
	if err != nil {
		return Value{}, err
	}
	if size <= 0 {
		return Value{}, fmt.Errorf("permute size parameter must be greater than zero")
	}
	return Int(permute(value, size, uint64(seed))), nil
}

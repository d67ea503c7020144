package amount

import (
	"fmt"
	"math/big"

	"github.com/jackc/pgx/v5/pgtype"
)

// NumericValue and ScanNumeric let pgx pass amounts as numeric without going through text.

func (m Money) NumericValue() (pgtype.Numeric, error) { return numeric(int64(m), moneyDigits), nil }
func (q Quantity) NumericValue() (pgtype.Numeric, error) {
	return numeric(int64(q), quantityDigits), nil
}

func (m *Money) ScanNumeric(v pgtype.Numeric) (err error) {
	*(*int64)(m), err = scaled(v, moneyDigits)
	return err
}

func (q *Quantity) ScanNumeric(v pgtype.Numeric) (err error) {
	*(*int64)(q), err = scaled(v, quantityDigits)
	return err
}

func numeric(v int64, digits int32) pgtype.Numeric {
	return pgtype.Numeric{Int: big.NewInt(v), Exp: -digits, Valid: true}
}

// scaled is v × 10^digits if that is a whole number in range.
func scaled(v pgtype.Numeric, digits int32) (int64, error) {
	if !v.Valid || v.NaN || v.InfinityModifier != pgtype.Finite {
		return 0, fmt.Errorf("read amount: not a number")
	}
	shift := v.Exp + digits
	if shift > 18 || shift < -1000 {
		return 0, ErrOverflow
	}
	result := v.Int
	if shift > 0 {
		result = new(big.Int).Mul(result, power10(shift))
	}
	if shift < 0 {
		quotient, rest := new(big.Int).QuoRem(result, power10(-shift), new(big.Int))
		if rest.Sign() != 0 {
			return 0, fmt.Errorf("read amount: more than %d decimals", digits)
		}
		result = quotient
	}
	if !result.IsInt64() {
		return 0, ErrOverflow
	}
	return result.Int64(), nil
}

func power10(n int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

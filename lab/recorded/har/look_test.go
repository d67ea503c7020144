package har

import "testing"

func TestStrengthOf(t *testing.T) {
	for want, values := range map[strength][]string{
		unique: {"0f8fad5b-d9cb-469f-a165-70867728950e", "3f9c2a7be1d04c55", "123456789", "1764345600000",
			"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP", "dGhpc0lzQVRva2Vu", "ABCDEFGHIJKLMNOP7",
			"cart_9f8e7d6c5b4a"},
		short: {"1", "17", "12345678", "A17", "v2"},
		word: {"", "x", "en", "save", "Item 17", "/admin/shop/item/17/change/", "https://shop.example/3f9c2a7be1d04c55",
			"alice@office.example", "application/json", "2026-11-28", "2026-11-28T10:00:00Z", "12.50", "-1",
			"getUserProfileData", "csrfmiddlewaretoken", "x-www-form-urlencoded", "a-slug-of-an-article",
			"XMLHttpRequest"},
	} {
		for _, v := range values {
			if got := strengthOf(v); got != want {
				t.Errorf("%q is %d, want %d", v, got, want)
			}
		}
	}
}

func TestSubject(t *testing.T) {
	for name, want := range map[string]string{"cart_id": "cart", "cartId": "cart", "carts": "cart", "cart": "cart",
		"orders": "order", "order-id": "order", "id": "id"} {
		if got := subject(name); got != want {
			t.Errorf("subject of %q is %q, want %q", name, got, want)
		}
	}
}

func TestPatternOf_LeadsToTheValueAlone(t *testing.T) {
	for _, c := range []struct{ body, value, want string }{
		{`<a href="/x?sid=AAAA1111&amp;p=2">`, "AAAA1111", `regex:sid=([A-Za-z0-9_-]+)`},
		{`id=1; id=22;`, "22", `regex:1;\s+id=([0-9]+)`},
		{`"token": "a.b/c"`, "a.b/c", `regex:token":\s+"([^"]+)`},
		{`x = 'q w'`, "q w", `regex:x\s+=\s+'([^']+)`},
		{`/items/17/`, "17", `regex:items/([0-9]+)`},
	} {
		at := indexOf(c.body, c.value)
		got, ok := patternOf(c.body, at, at+len(c.value))
		if !ok || got != c.want {
			t.Errorf("%q in %q: %q, %v; want %q", c.value, c.body, got, ok, c.want)
		}
	}
}

func indexOf(body, value string) int {
	for i := range body {
		if len(body)-i >= len(value) && body[i:i+len(value)] == value && whole(body, i, i+len(value)) {
			return i
		}
	}
	return -1
}

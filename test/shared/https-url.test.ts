import { httpsUrlProblem } from "#src/shared/https-url.ts"
import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"

it("an https URL is taken as it is written, in any script and with whatever a path or query may hold", () => {
  for (
    const url of [
      "https://b.com",
      "https://b.com:8443/a/b.html?c=d&e=%20|f#g",
      "https://b.com/@name",
      "https://b.com?mail=a@b.com",
      "https://bücher.example/menü",
      "https://日本.example/",
      "https://[2001:db8::1]/"
    ]
  ) expect(httpsUrlProblem(url), url).toBe(undefined)
})

it("anything else is refused, and why is said", () => {
  const wrong: ReadonlyArray<readonly [string, RegExp]> = [
    ["", /starts with https/],
    ["b.com", /starts with https/],
    ["http://b.com", /starts with https/],
    ["javascript:alert(1)//https://b.com", /starts with https/],
    ["https:", /starts with https/],
    ["https:///b.com", /starts with https/],
    ["https:b.com", /starts with https/],
    ["https://", /starts with https/],
    ["https://b.com:99999/", /starts with https/],
    [" https://b.com", /starts with https/],
    ["https://b.com/ ", /blanks/],
    ["https://b.com/a\nb", /control/],
    ["https://b.com/\u202eb", /control/],
    ["https://b.com/<script>", /< >/],
    ["https://b.com/\"onload=x", /< >/],
    ["https://a.com\\@b.com/", /backslashes/],
    ["https://a@b.com/", /user name/],
    ["https://a:b@b.com", /user name/],
    ["https://@b.com/", /user name/],
    ["https://a@b.com/<script>", /< >/]
  ]
  for (const [url, reason] of wrong) expect(httpsUrlProblem(url), url).toEqual(expect.stringMatching(reason))
})

it("what is taken leads where it says: https, nobody's name in it, nothing that ends an attribute", () => {
  const parts = fc.constantFrom(
    "https://",
    "http://",
    "//",
    "a",
    "b.com",
    "@",
    ":",
    "/",
    "?",
    "#",
    "\\",
    "<",
    "\"",
    " ",
    "\t",
    "é",
    "%",
    "."
  )
  fc.assert(
    fc.property(
      fc.oneof(fc.array(parts, { maxLength: 12 }).map((all) => all.join("")), fc.webUrl(), fc.string()),
      (text) => {
        if (httpsUrlProblem(text) !== undefined) return
        const { hostname, password, protocol, username } = new URL(text)
        expect([protocol, username, password]).toEqual(["https:", "", ""])
        expect(hostname).not.toBe("")
        expect(text).not.toMatch(/[<>"\\\s\p{Cc}]/u)
      }
    ),
    { numRuns: 2000 }
  )
})

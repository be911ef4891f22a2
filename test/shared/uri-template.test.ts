import { matchesTemplate, uriTemplate } from "#src/shared/uri-template.ts"
import { UriTemplate } from "@modelcontextprotocol/sdk/shared/uriTemplate.js"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { runs } from "../support/fuzz.ts"

const matches = (template: string, uri: string) => {
  const parsed = uriTemplate(template)
  if (parsed === undefined) throw new Error(`${template} is no template`)
  return matchesTemplate(parsed, uri)
}

describe("a URI template", () => {
  // RFC 6570 §3.2: var is "value", hello "Hello World!", path "/foo/bar", x 1024, y 768, empty "", list red, green and
  // blue, keys semi, dot and comma; undef is undefined.
  it.each([
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["map?{x,y}", "map?1024,768"],
    ["{x,hello,y}", "1024,Hello%20World%21,768"],
    ["O{empty}X", "OX"],
    ["O{undef}X", "OX"],
    ["{var:3}", "val"],
    ["{list*}", "red,green,blue"],
    ["{keys*}", "semi=%3B,dot=.,comma=%2C"],
    ["{+path}/here", "/foo/bar/here"],
    ["here?ref={+path}", "here?ref=/foo/bar"],
    ["{+path,x}/here", "/foo/bar,1024/here"],
    ["{#path,x}here", "#/foo/bar,1024here"],
    ["foo{#empty}", "foo#"],
    ["X{.var}", "X.value"],
    ["www{.dom*}", "www.example.com"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
    ["{;x,y}", ";x=1024;y=768"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{;list*}", ";list=red;list=green;list=blue"],
    ["{?x,y}", "?x=1024&y=768"],
    ["{?x,y,undef}", "?x=1024&y=768"],
    ["{?x,y}", "?y=768"],
    ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{&var:3}", "&var=val"],
    ["menü://{item-id}", "men%C3%BC://a"],
    ["menü://{item-id}", "menü://Käse & Brot"]
  ])("%s expands to %s", (template, uri) => {
    expect(matches(template, uri)).toBe(true)
  })

  it.each([
    ["menu://{day}", "menu://monday/soup"],
    ["menu://{day}", "xmenu://monday"],
    ["menu://{day}/soup", "menu://monday/soups"],
    ["menu://today", "menu://today?"],
    ["a{/x}", "a/b/c"],
    ["find{?q}", "find?other=1"],
    ["find{?q}", "find?q=1&other=1"],
    ["find{?q}", "findq=1"],
    ["{;x}", ";y=1"],
    ["a://{x}", `a://${"x".repeat(2_000)}`],
    ["a://{x}", "a://\ud800"]
  ])("%s does not expand to %s", (template, uri) => {
    expect(matches(template, uri)).toBe(false)
  })

  it("is none without its brace, without a name, with an operator that RFC 6570 reserves, and beyond its bounds", () => {
    const many = Array.from({ length: 11 }, (_, at) => `v${at}`)
    for (
      const text of ["{", "a}b", "a{b{c}}", "{}", "{?}", "{a,}", "{=a}", "{a b}", "{a:0}", "{a*:3}", "{(a+)+}"]
    ) {
      expect(uriTemplate(text), text).toBeUndefined()
    }
    expect(uriTemplate("x".repeat(501))).toBeUndefined()
    for (const text of [`{${many.join(",")}}`, many.map((name) => `{${name}}`).join("")]) {
      expect(uriTemplate(text)).toBeUndefined()
    }
  })

  it("matches whatever the official SDK's matches, of which no value is empty", () => {
    const variable = fc.constantFrom("a", "b", "c")
    const expression = fc.tuple(fc.constantFrom("", "+", "#", ".", "/", "?", "&"), variable, fc.constantFrom("", "*"))
      .map((parts) => `{${parts.join("")}}`)
    const piece = fc.oneof(expression, fc.constantFrom("x", "/", "a=", "&", "?", "#"))
    const letter = fc.constantFrom("x", "a", "b", "c", "/", "=", "&", "?", "#", ".", ",")
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 5 }),
        fc.option(fc.array(letter, { maxLength: 10 }), { nil: undefined }),
        (pieces, letters) => {
          const template = pieces.join("")
          const uri = letters?.join("") ?? new UriTemplate(template).expand({ a: "x", b: "a.b", c: ["=", "x"] })
          const theirs = new UriTemplate(template).match(uri) !== null &&
            // Its `#` writes no "#", and may so be anything.
            !template.includes("{#")
          if (theirs) expect(matches(template, uri), `${template} ${uri}`).toBe(true)
        }
      ),
      runs
    )
  })

  it("of which a backtracking expression would never come back is answered", () => {
    const uri = `a://${"a".repeat(494)}`
    const names = [..."abcdefghij"]
    for (
      const template of [
        `a://${names.map((name) => `{+${name}}`).join("")}!`,
        `a://${names.map((name) => `{${name}*}a`).join("")}!`,
        `a://{+a}${"a".repeat(480)}{+b}!`,
        `a://{/a*}{?b*,c*}{#d,e,f}!`
      ]
    ) {
      expect(matches(template, uri), template).toBe(false)
      expect(matches(template.slice(0, -1), uri)).toBe(!template.includes("?"))
    }
  })
})

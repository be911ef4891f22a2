import {
  clientOfSessionId,
  markOfPath,
  markOfSessionId,
  tagEndpoint,
  tagSessionId,
  untagPath,
  untagSessionId
} from "#http/gateway/session-tag.ts"
import { FastCheck } from "effect"
import { assert, describe, it } from "vitest"

const count = FastCheck.integer({ min: 1, max: 2_147_483_647 })
const mark = FastCheck.record({ version: count, run: FastCheck.oneof(FastCheck.constant(1), count) })
/** MCP 2025-11-25, Session Management: visible ASCII. Some end like a tag of ours. */
const id = FastCheck.oneof(
  FastCheck.stringMatching(/^[\x21-\x7e]{1,40}$/),
  FastCheck.stringMatching(/^x~v[1-9]{1,3}(\.[1-9]{1,2})?$/)
)
const query = FastCheck.stringMatching(/^[a-z]{1,5}=[a-z0-9%]{0,5}(&[a-z]{1,5}=[a-z0-9%]{0,5}){0,3}$/)

describe("the tag of a session", () => {
  it("names the machine, and comes off again, whatever the id is", () => {
    FastCheck.assert(FastCheck.property(id, mark, (id, mark) => {
      const tagged = tagSessionId(id, mark)
      assert.deepStrictEqual(markOfSessionId(tagged), mark)
      assert.strictEqual(untagSessionId(tagged), id)
      assert.match(tagged, /^[\x21-\x7e]+$/)
    }))
  })

  it("names the client as far as there is room, and comes off with it", () => {
    FastCheck.assert(
      FastCheck.property(id, mark, FastCheck.string({ unit: "binary", maxLength: 60 }), (id, mark, name) => {
        const tagged = tagSessionId(id, mark, name)
        assert.deepStrictEqual(markOfSessionId(tagged), mark)
        assert.strictEqual(untagSessionId(tagged), id)
        assert.match(tagged, /^[\x21-\x7e]+$/)
        const told = clientOfSessionId(tagged) ?? ""
        assert.isTrue(name.length > 20 || told === name.toWellFormed(), told)
        assert.isAtMost(tagged.length, id.length + 160)
      })
    )
    assert.isUndefined(clientOfSessionId("a~v1"))
  })

  it("leaves ids without one alone", () => {
    for (
      const plain of [
        "",
        "1",
        "a~v",
        "a~v0",
        "a~v01",
        "a~v12345678901",
        "a~v1 ",
        "~v1x",
        "a~V1",
        "a~v1.",
        "a~v1.1",
        "a~v1.02"
      ]
    ) {
      assert.isUndefined(markOfSessionId(plain))
      assert.strictEqual(untagSessionId(plain), plain)
    }
  })

  it("stands in the query of an endpoint, and comes off wherever a client has put it", () => {
    FastCheck.assert(FastCheck.property(FastCheck.option(query), mark, (query, mark) => {
      const path = `/message${query === null ? "" : `?${query}`}`
      const tagged = tagEndpoint(path, mark, "a.test")
      assert.deepStrictEqual(markOfPath(tagged), mark)
      assert.strictEqual(untagPath(tagged), path)
      const [name, mine = ""] = tagged.split("?")
      const moved = `${name}?${mine.split("&").reverse().join("&")}`
      assert.deepStrictEqual(markOfPath(moved), mark)
      assert.strictEqual(untagPath(moved), query === null ? path : `/message?${query.split("&").reverse().join("&")}`)
    }))
  })

  it("is put on addresses of the client's host alone", () => {
    const told = (address: string) => tagEndpoint(address, { version: 3, run: 2 }, "A.test:1")
    assert.strictEqual(told("/message?"), "/message?berth-version=3.2")
    assert.strictEqual(told("/message#x"), "/message?berth-version=3.2#x")
    assert.strictEqual(told("http://a.test:1/m?s=1"), "http://a.test:1/m?s=1&berth-version=3.2")
    for (const other of ["http://b.test/m?s=1", "//b.test/m", "ws://a.test/m"]) assert.strictEqual(told(other), other)
  })
})

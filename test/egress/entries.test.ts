import { canonicalHost, entryFor, type Policy, policyOf, portsFor } from "#src/egress/policy.ts"
import { allowedPorts, canonicalName, entryText, internetPorts, parseEntry } from "#src/servers/egress-entry.ts"
import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"

const parsed = (text: string) => {
  const entry = parseEntry(text)
  return typeof entry === "string" ? entry : entryText(entry)
}
const entries = (...texts: ReadonlyArray<string>) =>
  texts.map((text) => {
    const entry = parseEntry(text)
    return typeof entry === "string" ? expect.fail(`${text} ${entry}`) : entry
  })

describe("an entry of an allow-list", () => {
  it("is a host, its subdomains, or one port of them, in canonical form", () => {
    expect(parsed("API.Example.com.")).toBe("api.example.com")
    expect(parsed("*.Example.com:443")).toBe("*.example.com:443")
    expect(parsed("db.example.com:5432")).toBe("db.example.com:5432")
    expect(parsed("münchen.example")).toBe("xn--mnchen-3ya.example")
    expect(parsed("*.例え.テスト")).toBe("*.xn--r8jz45g.xn--zckzah")
    expect(parsed("_dmarc.example.com")).toBe("_dmarc.example.com")
    expect(parsed("93.184.216.34:8443")).toBe("93.184.216.34:8443")
    expect(parsed("[2606:4700::1111]:53")).toBe("[2606:4700::1111]:53")
    expect(parsed("2606:4700::1111")).toBe("2606:4700::1111")
    expect(parsed("*.com")).toBe("*.com")
  })

  it.each<readonly [string, RegExp]>([
    ["https://api.example.com", /without a scheme/],
    ["api.example.com/v1", /without a path/],
    ["api.example.com?x", /without a path/],
    ["user@api.example.com", /must be a host/],
    ["api example.com", /must be a host/],
    ["*", /"internet"/],
    ["*:443", /"internet"/],
    ["", /name a host/],
    [":443", /name a host/],
    ["api.*.com", /first label/],
    ["a*.example.com", /first label/],
    ["localhost", /full host name/],
    ["db:5432", /full host name/],
    ["a..example.com", /full host name/],
    ["-a.example.com", /full host name/],
    [`${"a".repeat(64)}.example.com`, /full host name/],
    ["1.2.3", /full host name/],
    ["2130706433", /full host name/],
    ["0x7f.1", /private|full host name/],
    ["api.example.com:0", /port from 1/],
    ["api.example.com:65536", /port from 1/],
    ["api.example.com:", /port from 1/],
    ["10.0.0.1", /private/],
    ["127.0.0.1:80", /private/],
    ["169.254.169.254", /private/],
    ["[::1]:443", /private/],
    ["::ffff:10.0.0.1", /private/],
    ["[64:ff9b::a00:1]", /private/],
    ["224.0.0.1", /private/]
  ])("%s is refused in words", (text, problem) => {
    expect(parseEntry(text)).toMatch(problem)
  })

  it("is read back as it was written, whatever the text", () => {
    FastCheck.assert(FastCheck.property(FastCheck.string(), (text) => {
      const entry = parseEntry(text)
      if (typeof entry !== "string") expect(parseEntry(entryText(entry))).toEqual(entry)
    }))
    const label = FastCheck.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/)
    const names = FastCheck.array(label, { minLength: 2, maxLength: 5 }).map((labels) => labels.join("."))
    FastCheck.assert(
      FastCheck.property(
        names,
        FastCheck.boolean(),
        FastCheck.option(FastCheck.integer({ min: 1, max: 65535 })),
        (name, star, port) => {
          const text = `${star ? "*." : ""}${name}${port === null ? "" : `:${port}`}`
          expect(parsed(text)).toBe(text)
        }
      )
    )
  })

  it("with a star allows subdomains of any depth, and not the host itself or its look-alikes", () => {
    const list = entries("*.example.com", "db.example.net:5432", "example.net")
    for (const name of ["a.example.com", "a.b.c.example.com"]) expect(allowedPorts(list, name), name).toEqual([443, 80])
    for (const name of ["example.com", "badexample.com", "example.com.evil.org", "a.example.net"]) {
      expect(allowedPorts(list, name), name).toEqual([])
    }
    expect(allowedPorts(list, "db.example.net")).toEqual([5432])
    expect(allowedPorts(entries("a.example.com", "a.example.com:22"), "a.example.com")).toEqual([443, 80, 22])
  })
})

it("a name is compared in one form, and what is no full name is none", () => {
  expect(canonicalName("A.B.")).toBe("a.b")
  for (const text of ["", ".", "a", "a..b", "a.b..", "127.0.0.1", "1.2.3", "a b.c", "a\0.b", "[::1]", "::1", "a.b:1"]) {
    expect(canonicalName(text), text).toBeUndefined()
  }
  expect(canonicalHost("::FFFF:1.2.3.4")).toBe("::ffff:1.2.3.4")
})

describe("a policy", () => {
  const policy = (egress: Parameters<typeof policyOf>[0]["egress"], hosts?: readonly [string, string]): Policy =>
    policyOf({
      id: "srv_1" as never,
      accountId: "u",
      plan: "free",
      egress,
      byoaConfig: hosts === undefined
        ? null
        : { issuer: hosts[0], jwksUri: hosts[1], authorizationEndpoint: "https://a.b", tokenEndpoint: "https://c.d" }
    })

  it("is the plan's where the server has none: nothing", () => {
    expect(portsFor(policy(null), "a.example.com")).toEqual([])
    expect(portsFor(policy("none"), "a.example.com")).toEqual([])
    expect(portsFor(policy("internet"), "a.example.com")).toEqual(internetPorts)
  })

  it("has a byoa server's issuer and keys, beside any setting", () => {
    const hosts = ["https://login.example.com/realm", "https://keys.example.com:8443/jwks"] as const
    for (const egress of [null, "none", { allow: ["a.example.com"] }] as const) {
      expect(portsFor(policy(egress, hosts), "login.example.com")).toEqual([443])
      expect(portsFor(policy(egress, hosts), "keys.example.com")).toEqual([8443])
      expect(portsFor(policy(egress, hosts), "a.b")).toEqual([])
    }
    expect(policy(null, ["http://localhost:1/x", "http://127.0.0.1/y"]).entries).toEqual([])
  })

  it("tells a host by its entry: without a port where that is 443 or 80", () => {
    expect([443, 80, undefined, 22].map((port) => entryFor("b.example.com", port))).toEqual([
      "b.example.com",
      "b.example.com",
      "b.example.com",
      "b.example.com:22"
    ])
  })

  it("means the same as another that allows the same, and as no other", () => {
    const one = policy({ allow: ["a.example.com"] }).meaning
    expect(policy({ allow: ["a.example.com"] }).meaning).toBe(one)
    const others = [policy(null), policy("internet"), policy({ allow: ["a.example.com:22"] })]
    for (const other of others) expect(other.meaning).not.toBe(one)
  })
})

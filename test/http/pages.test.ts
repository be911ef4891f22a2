import { FastCheck } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account, newEmail, type Server } from "../support/account.ts"
import { Berth, useBerth } from "../support/Berth.ts"
import { type Answer } from "../support/http.ts"
import { itLong } from "../support/needs.ts"
import { authorizePath, PlainBrowser, registerClient, returnLink } from "../support/pages.ts"

const berth = useBerth()
let owner: Account
let server: Server
let clientId = ""
const redirectUri = "https://agent.example/callback"
const password = "correct horse battery"

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  server = await owner.server((await owner.project()).id, { name: "Menu" })
  clientId = await registerClient(berth, "Agent", redirectUri, "http://127.0.0.1/callback")
})

const path = (fields: Readonly<Record<string, string>> = {}) =>
  authorizePath({ client_id: clientId, redirect_uri: redirectUri, resource: server.publicUrl, state: "s", ...fields })

/** A browser whose user is signed in. */
const signedIn = async (user?: { email: string; password: string }) => {
  const account = user ?? await berth.signUp()
  const browser = new PlainBrowser(berth)
  expect((await browser.signIn(account)).status).toBe(303)
  return Object.assign(browser, { account })
}

const known = ({ email, password }: Account) => ({ email, password })

const title = (text: string) => /<title>([^<]*)<\/title>/.exec(text)?.[1]
const locationOf = (answer: { readonly headers: Headers }) => new URL(answer.headers.get("location") ?? "")

describe("every page", () => {
  it("is never framed, cached or scripted, and sends its forms to us", async () => {
    const browser = new PlainBrowser(berth)
    const pages = [
      await browser.request("GET", "/oauth/sign-in"),
      await browser.request("GET", "/oauth/sign-up"),
      await browser.request("GET", "/api/v1/oauth/authorize"),
      await browser.request("GET", "/oauth/nowhere"),
      await browser.post("/oauth/sign-in", {}, { origin: "https://evil.example" })
    ]
    for (const { headers, status } of pages) {
      expect(headers.get("content-type"), String(status)).toEqual(expect.stringContaining("text/html"))
      expect(headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; frame-ancestors 'none'; form-action 'self'$/
      )
      expect(headers.get("x-frame-options")).toBe("DENY")
      expect(headers.get("cache-control")).toBe("no-store")
      expect(headers.get("referrer-policy")).toBe("same-origin")
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(headers.get("x-request-id")).toMatch(/\S/)
    }
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 400, 404, 403])
  })

  it("that consents differs in one thing: nobody can list where its form's answer leads on to", async () => {
    const browser = await signedIn()
    const { headers, status } = await browser.go(path())
    expect([status, headers.get("content-security-policy")]).toEqual([
      200,
      expect.stringMatching(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'$/)
    ])
    expect(headers.get("x-frame-options")).toBe("DENY")
  })

  it("is an envelope for a program, where it fails", async () => {
    const answer = await berth.request("POST", "/oauth/sign-in", {
      body: "email=a",
      headers: { "content-type": "application/x-www-form-urlencoded" }
    })
    expect([answer.status, answer.body]).toMatchObject([403, { error: { code: "FORBIDDEN" } }])
  })

  it("takes a form, of bounded size", async () => {
    const browser = new PlainBrowser(berth)
    await browser.go("/oauth/sign-in")
    expect((await browser.submit({ email: "x".repeat(70_000) })).status).toBe(413)
    for (const type of ["application/json", "text/plain", "multipart/form-data; boundary=x"]) {
      const headers = { "content-type": type, origin: berth.url }
      expect((await browser.request("POST", "/oauth/sign-in", { body: "{}", headers })).status, type).toBe(400)
    }
  })
})

describe("signing in", () => {
  it("leads back to the request and nowhere else, whatever the query says", async () => {
    const account = await berth.signUp()
    const browser = new PlainBrowser(berth)
    const first = await browser.request("GET", path())
    expect(first.headers.get("location")).toBe(path().replace("/api/v1/oauth/authorize", "/oauth/sign-in"))
    await browser.go(path())
    const answer = await browser.submit(known(account))
    expect([answer.status, answer.headers.get("location")]).toEqual([303, path()])

    for (const query of ["?return_to=https://evil.example", "?//evil.example", "?next=//evil.example&redirect_uri=x"]) {
      const other = new PlainBrowser(berth)
      const led = await other.signIn(account, query)
      const to = led.headers.get("location") ?? /http-equiv="refresh" content="0; url=([^"]*)"/.exec(led.text)?.[1]
      expect(to, query).toEqual(expect.stringMatching(/^\/api\/v1\/oauth\/authorize\?/))
    }
  })

  it("sets the session's cookie as the API does, and ends the session that was there", async () => {
    const browser = await signedIn()
    const before = browser.cookies.get("svc_session") ?? ""
    const other = await berth.signUp()
    await browser.go("/oauth/sign-in")
    expect(browser.text).toContain(browser.account.email)
    const answer = await browser.submit(known(other))
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^svc_session=svc_sess_[^;]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/)
    ])
    expect((await berth.request("GET", "/v1/auth/me", { token: before })).status).toBe(401)
    const me = await berth.request("GET", "/v1/auth/me", { token: browser.cookies.get("svc_session") })
    expect(me.body).toMatchObject({ data: { user: { email: other.email } } })
  })

  it("says the same of an unknown address and a wrong password, keeps the address, and never the password", async () => {
    const account = await berth.signUp()
    const texts: Array<string | undefined> = []
    for (const email of [account.email, newEmail()]) {
      const browser = new PlainBrowser(berth)
      const answer = await browser.signIn({ email, password: "not this one" })
      expect([answer.status, title(answer.text)]).toEqual([422, "Error: Sign in – Berth"])
      expect(answer.text).toContain(`value="${email}"`)
      expect(answer.text).not.toContain("not this one")
      texts.push(/role="alert"[^>]*>(.*?)<\/div>/s.exec(answer.text)?.[1])
    }
    expect(texts[0]).toContain("Wrong e-mail address or password.")
    expect(texts[1]).toBe(texts[0])
  })

  it("has the API's limit: the eleventh failure is a page with 429 and Retry-After", async () => {
    const { email } = await berth.signUp()
    const browser = new PlainBrowser(berth)
    await browser.go("/oauth/sign-in")
    for (let i = 0; i < 10; i++) expect((await browser.submit({ email, password: "wrong" })).status).toBe(422)
    const answer = await browser.submit({ email, password: "wrong" })
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)])
    expect(answer.text).toContain("Too many failed log-ins")
    const api = await browser.request("POST", "/v1/auth/login", {
      body: JSON.stringify({ email, password: "wrong" }),
      headers: { origin: berth.url }
    })
    expect(api.status).toBe(429)
  })

  it("by signing up tells every field that is wrong, and an address that is taken", async () => {
    const browser = new PlainBrowser(berth)
    await browser.go("/oauth/sign-up")
    const answer = await browser.submit({ email: "nonsense", password: "short", name: "\u0000" })
    expect(answer.status).toBe(422)
    for (const field of ["email", "password", "name"]) {
      expect(answer.text).toMatch(
        new RegExp(`id="${field}"[^>]* aria-invalid="true" aria-describedby="[^"]*${field}-fault"`)
      )
      expect(answer.text).toContain(`<a href="#${field}">`)
    }
    expect((await browser.submit({ email: owner.email, password })).status).toBe(409)
    const email = newEmail()
    expect((await browser.submit({ email, password })).headers.get("location")).toBe("/oauth/grants")
    expect((await browser.go("/oauth/grants")).text).toContain(email)
  })

  it("needs a form of ours: an Origin of ours, the visitor's cookie and a ticket for this form and query", async () => {
    const account = await berth.signUp()
    const fields = { email: account.email, password: account.password }
    const browser = new PlainBrowser(berth)
    await browser.go("/oauth/sign-in")
    const { ticket = "" } = browser.form().fields

    for (const origin of ["https://evil.example", "null", "", berth.url.replace("http:", "https:")]) {
      const answer = await browser.post("/oauth/sign-in", { ...fields, ticket }, { origin })
      expect([answer.status, answer.headers.getSetCookie()], origin).toEqual([403, []])
    }
    const stranger = new PlainBrowser(berth)
    await stranger.go("/oauth/sign-in")
    const sent: ReadonlyArray<readonly [PlainBrowser, string, Record<string, string>]> = [
      [stranger, "/oauth/sign-in", { ...fields, ticket }],
      [new PlainBrowser(berth), "/oauth/sign-in", { ...fields, ticket }],
      [browser, "/oauth/sign-in", fields],
      [browser, "/oauth/sign-in", { ...fields, ticket: "" }],
      [browser, "/oauth/sign-in", { ...fields, ticket: `${ticket}x` }],
      [browser, "/oauth/sign-in?a=b", { ...fields, ticket }],
      [browser, "/oauth/sign-up", { ...fields, ticket }]
    ]
    for (const [who, to, form] of sent) {
      const answer = await who.post(to, form)
      expect([answer.status, who.cookies.has("svc_session")], `${to} ${JSON.stringify(form)}`).toEqual([403, false])
    }
    expect((await browser.post("/oauth/sign-in", { ...fields, ticket })).status).toBe(303)
  })

  itLong("from a page that lay open for an hour asks again", async () => {
    const old = await new Berth().start()
    try {
      const account = await old.signUp()
      const browser = new PlainBrowser(old)
      await browser.go("/oauth/sign-in")
      old.advance(61 * 60_000)
      const answer = await browser.submit(known(account))
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("open for too long")])
      expect((await browser.submit(known(account))).status).toBe(303)
    } finally {
      await old.stop()
    }
  })

  it("on https, at a host of its own, has cookies that stay there", async () => {
    const secure = await new Berth().start({
      variables: { BASE_URL: "https://berth.example.com", AUTH_URL: "https://auth.example.com/in" }
    })
    try {
      const account = await secure.signUp()
      const browser = new PlainBrowser(secure)
      const shown = await browser.go("/oauth/sign-in")
      expect(shown.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^__Host-svc_visit=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
      ])
      const form = browser.form()
      expect(form.action).toBe("/in/oauth/sign-in")
      const fields = { ...form.fields, email: account.email, password: account.password }
      const origin = (value: string) => browser.post("/oauth/sign-in", fields, { origin: value })
      expect((await origin("https://berth.example.com")).status).toBe(403)
      const answer = await origin("https://auth.example.com")
      expect([answer.status, answer.headers.get("location")]).toEqual([303, "/in/oauth/grants"])
      expect(answer.headers.getSetCookie()[0]).toMatch(/^__Host-svc_session=.*; HttpOnly; Secure; SameSite=Lax$/)
      const grants = await browser.go("/oauth/grants")
      expect(grants.text).toContain(account.email)
      const out = browser.form(grants.text.slice(grants.text.indexOf("sign-out") - 60))
      expect((await browser.post("/oauth/sign-out", out.fields, { origin: "https://auth.example.com" })).status).toBe(
        303
      )
      expect(browser.cookies.has("__Host-svc_session")).toBe(false)
    } finally {
      await secure.stop()
    }
  })
})

describe("the authorization endpoint", () => {
  it("shows what can't be told to a client on a page, and redirects nowhere", async () => {
    const wrong = [
      path({ client_id: "client_unknown" }),
      path({ redirect_uri: "https://evil.example/callback" }),
      `${path()}&client_id=${clientId}`,
      "/api/v1/oauth/authorize"
    ]
    const browser = await signedIn()
    for (const url of wrong) {
      const answer = await browser.request("GET", url)
      expect([answer.status, answer.headers.get("location")], url).toEqual([400, null])
      expect(answer.text).toContain("This request can&#39;t go on")
      expect(answer.text).not.toContain("evil.example")
    }
  })

  describe("when something else is wrong", () => {
    const wrong = (fields: Readonly<Record<string, string>> = {}) => path({ code_challenge_method: "plain", ...fields })

    const expectPage = (answer: Answer, to: string, name: string) => {
      expect([answer.status, answer.headers.get("location")]).toEqual([400, null])
      expect(answer.text).not.toContain("http-equiv=\"refresh\"")
      expect(answer.text).toContain(`<bdi>${name}</bdi></strong> sent you here`)
      expect(answer.text).toContain("code_challenge_method must be S256")
      const { href = "", searchParams } = returnLink(answer.text) ?? {}
      expect(href.slice(0, to.length)).toBe(to)
      expect([searchParams?.get("error"), searchParams?.get("state"), searchParams?.get("iss")])
        .toEqual(["invalid_request", "s", berth.url])
    }

    it("leads nobody who is not signed in anywhere: a page says whither, for web pages, programs and apps", async () => {
      const redirects = {
        "https://agent.example/callback": "Return to agent.example<",
        "http://127.0.0.1:4567/callback": "Return to 127.0.0.1:4567, a program on this device<",
        "zoommtg://zoom.example/join": "Return to zoommtg:, an app on this device<"
      }
      const client_id = await registerClient(berth, "<i>Lure", ...Object.keys(redirects))
      for (const [redirect_uri, words] of Object.entries(redirects)) {
        const answer = await new PlainBrowser(berth).request("GET", wrong({ client_id, redirect_uri }))
        expectPage(answer, redirect_uri, "&lt;i&gt;Lure")
        expect(answer.text).toContain(words)
      }
    })

    it("tells the client by a 303 where the user has consented to it, as long as that stands", async () => {
      const browser = await signedIn()
      expectPage(await browser.go(wrong()), redirectUri, "Agent")
      await browser.go(path())
      await browser.submit({ decision: "deny" })
      expectPage(await browser.go(wrong()), redirectUri, "Agent")
      await browser.go(path())
      await browser.submit({ decision: "allow" })

      const answer = await browser.go(wrong())
      expect(answer.status).toBe(303)
      const { origin, searchParams } = locationOf(answer)
      expect([origin, searchParams.get("error"), searchParams.get("state"), searchParams.get("iss")])
        .toEqual(["https://agent.example", "invalid_request", "s", berth.url])
      expect(answer.headers.get("cache-control")).toBe("no-store")
      expectPage(await new PlainBrowser(berth).request("GET", wrong()), redirectUri, "Agent")
      expectPage(await (await signedIn()).go(wrong()), redirectUri, "Agent")
      const client_id = await registerClient(berth, "Another", redirectUri)
      expectPage(await browser.go(wrong({ client_id })), redirectUri, "Another")

      await browser.go("/oauth/grants")
      await browser.submit({})
      expectPage(await browser.go(wrong()), redirectUri, "Agent")
    })

    it("does so too when a consent is sent for a request that has become wrong", async () => {
      const browser = await signedIn()
      const gone = await owner.server((await owner.project()).id)
      await browser.go(path({ resource: gone.publicUrl }))
      await owner.delete(`/v1/servers/${gone.id}`)
      const answer = await browser.submit({ decision: "allow" })
      expect([answer.status, returnLink(answer.text)?.searchParams.get("error")]).toEqual([400, "invalid_target"])
    })
  })

  it("says in plain words what to do when the client is not known", async () => {
    const { text } = await new PlainBrowser(berth).request("GET", path({ client_id: "client_unknown" }))
    expect(text).toContain("Disconnect the application and connect it again")
    expect(text).toContain("Error: <code>client_unknown</code>")
  })

  it("does not take a key for a user", async () => {
    const { key } = await owner.key((await owner.project()).id)
    const answer = await berth.request("GET", path(), { token: key })
    expect([answer.status, answer.headers.get("location")]).toEqual([303, expect.stringMatching(/^\/oauth\/sign-in\?/)])
  })

  it("asks once for the same, then goes straight back; right after a sign-in by a page of its own", async () => {
    const browser = await signedIn()
    await browser.go(path())
    expect(browser.text).toContain("<h1>Allow <bdi>Agent</bdi> to use <bdi>Menu</bdi>?</h1>")
    const allowed = await browser.submit({ decision: "allow" })
    expect([allowed.status, locationOf(allowed).origin]).toEqual([303, "https://agent.example"])
    expect(locationOf(allowed).searchParams.get("code")).toMatch(/^[\w-]{43}$/)

    const again = await browser.request("GET", path())
    expect([again.status, locationOf(again).searchParams.has("code")]).toEqual([303, true])

    const later = new PlainBrowser(berth)
    const after = await later.signIn(browser.account, path().slice(path().indexOf("?")))
    expect([after.status, title(after.text)]).toEqual([200, "Signed in – Berth"])
    const [, refresh = ""] = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(after.text) ?? []
    expect(refresh.replaceAll("&amp;", "&")).toBe(path())
    expect(locationOf(await later.go(path())).searchParams.has("code")).toBe(true)

    const more = await browser.go(path({ scope: "mcp:read mcp:write" }))
    expect([more.status, more.text]).toEqual([200, expect.stringContaining("Use the tools that change something")])
  })

  it("asks each time when a program on the device is sent the code", async () => {
    const browser = await signedIn()
    const url = path({ redirect_uri: "http://127.0.0.1:4567/callback" })
    for (let i = 0; i < 2; i++) {
      expect((await browser.go(url)).text).toContain("only you know which program this is")
      const { host, searchParams } = locationOf(await browser.submit({ decision: "allow" }))
      expect([host, searchParams.has("code")]).toEqual(["127.0.0.1:4567", true])
    }
  })
})

describe("consent", () => {
  it("denied tells the client so", async () => {
    const browser = await signedIn()
    await browser.go(path())
    const { origin, searchParams } = locationOf(await browser.submit({ decision: "deny" }))
    expect([origin, searchParams.get("error"), searchParams.get("state"), searchParams.has("code")])
      .toEqual(["https://agent.example", "access_denied", "s", false])
  })

  it("is for the page that was shown: a ticket is good for its user, session and query alone", async () => {
    const browser = await signedIn()
    const victim = await signedIn()
    await browser.go(path())
    const theirs = browser.form()
    await victim.go(path({ scope: "mcp:read" }))
    const other = victim.form()
    await victim.go(path())
    const own = victim.form()
    const allow = (fields: Record<string, string>) => victim.post(own.action, { decision: "allow", ...fields })
    for (const fields of [theirs.fields, other.fields, {}, { ticket: "x" }]) {
      const answer = await allow(fields)
      expect([answer.status, answer.headers.get("location")], JSON.stringify(fields)).toEqual([403, null])
      expect(answer.text).toContain("Nothing was decided")
    }
    const foreign = await victim.post(own.action, { decision: "allow", ...own.fields }, {
      origin: "https://evil.example"
    })
    expect([foreign.status, foreign.headers.get("location")]).toEqual([403, null])
    for (const decision of ["", "maybe", "Allow"]) {
      expect((await allow({ ...own.fields, decision })).status, decision).toBe(400)
    }
    expect(locationOf(await allow(own.fields)).searchParams.has("code")).toBe(true)

    await victim.signIn(victim.account)
    expect((await allow(own.fields)).status).toBe(403)
  })

  it("of somebody who is not signed in leads to the sign-in", async () => {
    const browser = await signedIn()
    await browser.go(path())
    const form = browser.form()
    const answer = await new PlainBrowser(berth).post(form.action, { ...form.fields, decision: "allow" })
    expect(answer.headers.get("location")).toMatch(/^\/oauth\/sign-in\?/)
  })

  it("is not to be had from a user whom the server does not let in", async () => {
    const closed = await owner.server((await owner.project()).id, { name: "Staff only" })
    expect((await owner.put(`/v1/servers/${closed.id}/auth`, { authMode: "service_managed", access: "owner" })).status)
      .toBe(200)
    const url = path({ resource: closed.publicUrl })
    const browser = await signedIn()
    const answer = await browser.go(url)
    expect([answer.status, title(answer.text)]).toEqual([403, "Not open to this account – Berth"])
    const form = browser.form()
    const forced = await browser.post(form.action, { ...form.fields, decision: "allow" })
    expect([forced.status, forced.headers.get("location")]).toEqual([403, null])
    await browser.go(url)
    expect(locationOf(await browser.submit({ decision: "deny" })).searchParams.get("error")).toBe("access_denied")
    expect((await (await signedIn(owner)).go(url)).status).toBe(200)
  })

  it("escapes what a client calls itself", async () => {
    const evil = `</h1><script>alert(1)</script>${"W".repeat(100)}`
    const id = await registerClient(berth, evil, redirectUri)
    const browser = await signedIn()
    const { text } = await browser.go(path({ client_id: id }))
    expect(text).toContain("&lt;/h1&gt;&lt;script&gt;")
    expect(text).not.toMatch(/<script|W{61}/)
  })
})

describe("connected applications", () => {
  it("are listed with what they may do, and revoked by their user alone", async () => {
    const browser = await signedIn()
    expect((await browser.go("/oauth/grants")).text).toContain("No application may act for you")
    await browser.go(path())
    await browser.submit({ decision: "allow" })
    await browser.go("/oauth/grants")
    for (const part of ["Agent", "Menu", "See what the server offers"]) expect(browser.text).toContain(part)
    const form = browser.form()

    const other = await signedIn()
    await other.go("/oauth/grants")
    const { ticket = "" } = other.form().fields
    const foreign = await other.post("/oauth/grants", { ticket, grant: form.fields["grant"] ?? "" })
    expect(foreign.headers.get("location")).toBe("/oauth/grants")
    const stolen = await other.post("/oauth/grants", form.fields)
    expect(stolen.headers.get("location")).toBe("/oauth/grants")
    expect((await browser.post("/oauth/grants", form.fields, { origin: "https://evil.example" })).status).toBe(403)
    expect((await browser.go("/oauth/grants")).text).toContain("Menu")

    const revoked = await browser.post("/oauth/grants", form.fields)
    expect(revoked.headers.get("location")).toBe("/oauth/grants?revoked")
    expect((await browser.go("/oauth/grants?revoked")).text).toContain("role=\"status\"")
    expect(browser.text).toContain("No application may act for you")
    expect((await browser.post("/oauth/grants", form.fields)).headers.get("location")).toBe("/oauth/grants")
    expect((await browser.go(path())).text).toContain("<h1>Allow")
  })

  it("and their page are for who is signed in; signing out ends the session", async () => {
    expect((await new PlainBrowser(berth).request("GET", "/oauth/grants")).headers.get("location")).toBe(
      "/oauth/sign-in"
    )
    const browser = await signedIn()
    const token = browser.cookies.get("svc_session")
    await browser.go("/oauth/grants")
    const form = browser.form()
    expect(form.action).toBe("/oauth/sign-out")
    expect((await browser.submit({})).headers.get("location")).toBe("/oauth/sign-in")
    expect(browser.cookies.has("svc_session")).toBe(false)
    expect((await berth.request("GET", "/v1/auth/me", { token })).status).toBe(401)
  })
})

describe("nonsense", () => {
  const forms = ["/oauth/sign-in", "/oauth/sign-up", "/oauth/consent", "/oauth/grants", "/oauth/sign-out"]
  const pages = ["/api/v1/oauth/authorize", "/oauth/sign-in", "/oauth/sign-up", "/oauth/grants"]
  const names = FastCheck.constantFrom(
    ...["ticket", "email", "password", "name", "decision", "grant", "client_id", "redirect_uri", "resource", "cursor"]
  )
  const value = FastCheck.oneof(
    FastCheck.string({ unit: "binary", maxLength: 60 }),
    FastCheck.constantFrom("%00", "%zz", "%ff%fe", "//evil.example", "https://evil.example/", "__proto__", "v1.a.b.c")
  )
  const pairs = FastCheck.array(FastCheck.tuple(names, value), { maxLength: 8 }).map((all) =>
    all.map(([name, text]) => `${name}=${text.startsWith("%") ? text : encodeURIComponent(text.toWellFormed())}`).join(
      "&"
    )
  )

  it("in a query or a form is answered by a page, never by a failure of ours or a redirect elsewhere", async () => {
    const account = await berth.signUp("enterprise")
    const browser = await signedIn(account)
    const tried = FastCheck.asyncProperty(
      FastCheck.constantFrom(...forms),
      FastCheck.constantFrom(...pages),
      pairs,
      pairs,
      async (form, page, query, body) => {
        const headers = { "content-type": "application/x-www-form-urlencoded", origin: berth.url }
        const answers = [
          await browser.request("GET", `${page}?${query}`),
          await browser.request("POST", `${form}?${query}`, { body, headers })
        ]
        for (const { headers, status } of answers) {
          expect(status, `${query} ${body}`).toEqual(expect.toSatisfy((code: number) => code < 500))
          expect(headers.get("location") ?? "/oauth").toMatch(/^\/(oauth|api\/v1\/oauth)/)
        }
      }
    )
    await FastCheck.assert(tried, { numRuns: 60 })
  })
})

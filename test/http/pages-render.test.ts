import { accountNav } from "#http/pages/account-nav.ts"
import { analyticsPage } from "#http/pages/analytics-page.ts"
import { topOf } from "#http/pages/chart.ts"
import { consentPage, type ConsentProps } from "#http/pages/consent-page.ts"
import { grantsPage } from "#http/pages/grants-page.ts"
import { html } from "#http/pages/html.ts"
import { linksOf } from "#http/pages/links.ts"
import { listingsPage } from "#http/pages/listings-page.ts"
import { continuePage, messagePage } from "#http/pages/message-page.ts"
import { scopeWords } from "#http/pages/scope-words.ts"
import { shownHost, shownName } from "#http/pages/shown.ts"
import { signInPage, signUpPage } from "#http/pages/sign-in-page.ts"
import { style, styleHash } from "#http/pages/style.ts"
import { unmetSection } from "#http/pages/unmet-section.ts"
import { Scope } from "#src/accounts/CurrentActor.ts"
import { GrantId } from "#src/oauth/Grant.ts"
import { platformScopes } from "#src/oauth/scopes/platform-resource.ts"
import { mcpScopes, offlineAccess } from "#src/oauth/scopes/scopes.ts"
import { FastCheck } from "effect"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"

const text = FastCheck.string({ unit: "binary", maxLength: 200 })

const decoded = (markup: string) =>
  markup.replace(
    /&(lt|gt|quot|#39|amp);/g,
    (_, name: string) => ({ lt: "<", gt: ">", quot: "\"", "#39": "'", amp: "&" })[name] ?? ""
  )

const consent = (props: Partial<ConsentProps> = {}) =>
  consentPage({
    action: "/oauth/consent?client_id=c",
    ticket: "ticket",
    switchAccount: "/oauth/sign-in?client_id=c",
    grants: "/oauth/grants",
    client: { clientId: "https://agent.example/client.json", kind: "metadata", clientName: "Agent" },
    redirectUri: "https://agent.example/callback",
    target: { kind: "server", name: "Menu", url: "https://menu.mcp.example" },
    scopes: ["mcp:read"],
    user: "ada@example.com",
    admission: "admitted",
    ...props
  })

/** Every page, with the text wherever somebody else's text goes. */
const pagesWith = (evil: string) => {
  const faults = [{ message: evil }, { field: "email", message: evil }]
  const form = { action: "/a", other: "/b", ticket: "t", clientName: evil, email: evil, name: evil, faults }
  const client = { clientId: evil, kind: "dynamic" as const, clientName: evil }
  const target = { kind: "server" as const, name: evil, url: "https://menu.mcp.example" }
  const at = new Date(0)
  const grant = {
    id: GrantId.make("gra_1"),
    clientId: evil,
    clientName: evil,
    resource: evil,
    serverId: "srv_1",
    serverName: evil,
    scopes: [evil],
    createdAt: at,
    updatedAt: at
  }
  const nav = accountNav(linksOf({ authUrl: "https://berth.example" }), "listings")
  const search = { words: evil, category: evil, vertical: evil, city: evil, state: evil, near: true, times: 3 }
  return {
    listings: listingsPage({ nav, user: evil, listings: [{ name: evil, href: "/l" }], more: "/l?cursor=x" }),
    analytics: analyticsPage({
      nav,
      user: evil,
      sums: { tier: "featured", period: "7d", view_count: 3, click_count: 1, click_through_rate: 33.33 },
      daily: {
        name: evil,
        tier: "featured",
        period: "7d",
        days: [{ day: "2026-11-22", view_count: 3, click_count: 1 }, {
          day: "2026-11-23",
          view_count: 0,
          click_count: 0
        }]
      },
      unmet: { period: "7d", searches: [{ ...search, last_day: "2026-11-23" }], has_more: true },
      href: (period) => `/l?period=${period}`
    }),
    signIn: signInPage({ ...form, signedInAs: evil }),
    signUp: signUpPage(form),
    consent: consent({ client, target, scopes: [evil], user: evil }),
    documented: consent({ client: { ...client, kind: "metadata" }, target: { ...target, url: evil } }),
    refused: consent({ client, target, user: evil, admission: "refused" }),
    unverified: consent({ client, target, user: evil, admission: "unverified" }),
    message: messagePage({ title: evil, message: [evil], code: evil, requestId: evil }),
    continuing: continuePage({ clientName: evil, href: "/x" }),
    grants: grantsPage({
      nav: "",
      action: "/g",
      signOut: "/o",
      ticket: "t",
      user: evil,
      grants: [grant],
      revoked: true
    })
  }
}

const skeleton = (markup: string) => markup.replace(/<style>.*<\/style>/s, "").match(/<[^>]*>/g)

describe("a template", () => {
  it("escapes every value, so that it comes out as it went in", () => {
    FastCheck.assert(FastCheck.property(text, (value) => {
      const inside = html`<p title="${value}">${[value]}</p>`.text.slice("<p title=\"".length, -"</p>".length)
      const [attribute = "", content = ""] = inside.split("\">")
      expect([decoded(attribute), decoded(content)]).toEqual([value, value])
      expect(inside.replace("\">", "")).not.toMatch(/[<>"']/)
    }))
  })

  it("shows nothing for what is not there, and passes its own markup on", () => {
    expect(html`${undefined}${false}${0}${html`<b>${"<"}</b>`}`.text).toBe("0<b>&lt;</b>")
  })
})

describe("what agents did not find", () => {
  it("is said to be other people's words", () => {
    const search = { words: "ramen", near: true, times: 3, last_day: "2026-11-23" }
    expect(unmetSection({ period: "7d", searches: [search], has_more: false }).text)
      .toContain("The words are other people's")
  })
})

describe("a name that somebody else chose", () => {
  it("is one visible line of bounded length, whatever it holds", () => {
    FastCheck.assert(FastCheck.property(text, (name) => {
      const shown = shownName(name, "otherwise")
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\n\r\u2028\u2029]/u)
      expect(shown.trim()).toBe(shown)
      expect(shown.length).toBeGreaterThan(0)
      expect([...new Intl.Segmenter().segment(shown)].length).toBeLessThanOrEqual(61)
      expect(shownName(shown, "otherwise")).toBe(shown)
    }))
  })

  it("loses what turns, hides or piles up letters", () => {
    const shown = (name: string) => shownName(name, "otherwise")
    expect(shown("Claude\u202e\u2066 Code\u2069")).toBe("Claude Code")
    expect(shown("Cl\u200bau\u2060de\ufeff")).toBe("Claude")
    expect(shown("A\u{e0041}\u{e0042}gent")).toBe("Agent")
    expect(shown("two\nlines\t\u2028and\u00a0more")).toBe("two lines and more")
    expect(shown(`Z${"\u0300\u0301\u0302\u0303\u0304".repeat(50)}`).length).toBeLessThanOrEqual(4)
    expect(shown("w".repeat(100_000))).toBe(`${"w".repeat(59)}…`)
    for (const blank of ["", "   ", "\u3164", "\u2800", "\u00ad", "\u0301"]) expect(shown(blank)).toBe("otherwise")
    for (const name of ["Müller & Söhne", "日本語", "नमस्ते", "Агент <3"]) expect(shown(name)).toBe(name)
  })

  it("is a host as it travels, or the scheme of an app", () => {
    expect(shownHost("https://ａgent.example:8443/x")).toBe("agent.example:8443")
    expect(shownHost("https://аpple.com/")).toBe("xn--pple-43d.com")
    expect(shownHost("https://good.example@evil.example/")).toBe("evil.example")
    expect(shownHost("com.example.editor:/callback")).toBe("com.example.editor:")
    expect(shownHost("client_01J")).toBe(undefined)
  })
})

describe("every page", () => {
  it("has the same markup whatever others wrote", () => {
    const evils = [
      "</title></style><script>alert(1)</script>",
      "\"><img src=x onerror=alert(1)>",
      "'><svg/onload=alert(1)>",
      "<!--",
      "&lt;b&gt;",
      "javascript:alert(1)",
      "\u202e\u2066<b>\u0000"
    ]
    const plain = pagesWith("plain")
    for (const evil of evils) {
      for (const [name, page] of Object.entries(pagesWith(evil))) {
        const tags = (skeleton(page) ?? []).map((tag) => tag.replaceAll(/value="[^"]*"/g, "value"))
        const expected = (skeleton(plain[name as keyof typeof plain]) ?? [])
          .map((tag) => tag.replaceAll(/value="[^"]*"/g, "value"))
        expect(tags, `${name} ${evil}`).toEqual(expected)
      }
    }
  })

  it("holds no script, no handler, no style attribute, and nothing of elsewhere", () => {
    for (const page of Object.values(pagesWith("plain"))) {
      expect(page).not.toMatch(/<script|\son\w+=|\sstyle=|<(img|link|iframe|object|embed|base)\b|javascript:/i)
      expect(page).not.toMatch(/\b(src|href|action)="(?!\/|#)/)
    }
  })

  it("has one title, one first heading, a language, and a viewport that may be zoomed", () => {
    for (const page of Object.values(pagesWith("plain"))) {
      expect(page.split("</head>")[0]?.match(/<title>[^<]+<\/title>/g)).toHaveLength(1)
      expect(page.match(/<h1[ >]/g)).toHaveLength(1)
      expect(page).toContain("<html lang=\"en\">")
      expect(page).toContain("content=\"width=device-width, initial-scale=1\"")
    }
  })

  it("has the one stylesheet that its policy names", () => {
    const [, sheet = ""] = /<style>(.*?)<\/style>/s.exec(consent()) ?? []
    expect(sheet).toBe(style)
    expect(styleHash).toBe(`'sha256-${createHash("sha256").update(sheet).digest("base64")}'`)
  })
})

describe("the consent page", () => {
  it("shows the client's name, the host of its id, the redirect's host, the server and its host, and the user", () => {
    const page = consent({ redirectUri: "https://back.agent.example:8443/callback" })
    for (const part of ["Agent", "agent.example", "back.agent.example:8443", "Menu", "menu.mcp.example"]) {
      expect(page).toContain(part)
    }
    expect(page).toContain("ada@example.com")
  })

  it("says that nobody verified a client that registered itself", () => {
    const client = { clientId: "client_01J", kind: "dynamic" as const, clientName: "Claude" }
    expect(consent({ client })).toContain("Not verified")
    expect(consent()).not.toContain("Not verified")
  })

  it("warns of a redirect to a program or an app on the device, and of no other", () => {
    const warns = (redirectUri: string) => consent({ redirectUri }).includes("class=\"note warn\"")
    for (
      const uri of [
        "http://localhost:3000/cb",
        "http://127.0.0.1/cb",
        "http://[::1]:1/cb",
        "cursor://anysphere.cursor-retrieval/oauth",
        "com.example.app:/cb"
      ]
    ) expect(warns(uri), uri).toBe(true)
    for (const uri of ["https://agent.example/cb", "https://localhost.agent.example/cb"]) {
      expect(warns(uri), uri).toBe(false)
    }
  })

  it("says every scope in words, and that account is full access", () => {
    const scopes = [...mcpScopes, offlineAccess, ...Scope.literals, ...platformScopes]
    for (const { scope, words } of scopeWords(scopes)) expect(words, scope).toEqual(expect.any(String))
    expect(consent({ scopes: ["account"] })).toContain("full access to your account")
    expect(consent({ scopes: ["toString", "other"] })).toContain("<code>toString</code>")
  })

  it("weighs what it asks: full access comes first, staying connected last", () => {
    const asked = scopeWords([offlineAccess, ...platformScopes].toSorted()).map(({ scope }) => scope)
    expect([asked[0], asked.at(-1)]).toEqual(["account", offlineAccess])
    expect(consent({ scopes: ["mcp:read", offlineAccess] })).toContain("Stay connected when you are away")
  })

  it("says that keys which an application makes end with its access", () => {
    expect(consent({ scopes: ["account"] })).toContain("make API keys (which end when you take this back)")
  })

  it("offers a user whom the server does not let in no way to allow", () => {
    for (const admission of ["refused", "unverified"] as const) {
      expect(consent({ admission })).not.toContain("value=\"allow\"")
      expect(consent({ admission })).toContain("value=\"deny\"")
    }
  })
})

describe("the pages that sign somebody in", () => {
  const props = { action: "/a", other: "/b", ticket: "t" }
  const focused = (markup: string) => [...markup.matchAll(/<[^>]* autofocus[^>]*>/g)].map(([tag]) => tag)

  it("give the focus to their first field, and to what is wrong when something is", () => {
    expect(focused(signInPage({ ...props, faults: [] }))).toEqual([expect.stringContaining("id=\"email\"")])
    expect(focused(signUpPage({ ...props, faults: [] }))).toEqual([expect.stringContaining("id=\"name\"")])
    for (const page of [signInPage, signUpPage]) {
      const faults = [{ field: "email", message: "no" }]
      expect(focused(page({ ...props, faults }))).toEqual([expect.stringContaining("id=\"faults\"")])
    }
  })
})

describe("the page of connected applications", () => {
  it("says that a revocation has worked, for tokens and keys alike", () => {
    const page = (revoked: boolean) =>
      grantsPage({ nav: "", action: "/g", signOut: "/o", ticket: "t", user: "a@example.com", grants: [], revoked })
    expect(page(true).replace(/\s+/g, " ")).toContain(
      "The application's access has ended, and so have the API keys that it made."
    )
    expect(page(false)).not.toContain("has ended")
  })
})

describe("a grant on the page of connected applications", () => {
  const shown = (clientId: string, resource: string, serverId: string | null = null) =>
    grantsPage({
      nav: "",
      action: "/g",
      signOut: "/o",
      ticket: "t",
      user: "a@example.com",
      revoked: false,
      grants: [{
        id: GrantId.make("gra_1"),
        clientId,
        clientName: "Name",
        resource,
        serverId,
        serverName: serverId === null ? null : "Menu",
        scopes: ["mcp:read"],
        createdAt: new Date(0),
        updatedAt: new Date(0)
      }]
    })
  const from = (clientId: string) =>
    /<p class="soft">(.*); allowed on/.exec(shown(clientId, "https://menu.mcp.example", "srv_1"))?.[1]

  it("says whose it is; those of exchanged tokens and composites are Berth's own", () => {
    expect(from("client_1")).toBe("It registered itself")
    expect(from("https://agent.example/client.json")).toBe("Of agent.example")
    for (const own of ["berth-token-exchange", "berth-composites"]) expect(from(own)).toContain("Berth&#39;s own")
  })

  it("says what it may use: a server, a composite, or Berth", () => {
    const used = (path: string, serverId?: string) =>
      /It may use <strong><bdi>(.*?)<\/bdi>/.exec(shown("client_1", `https://berth.example${path}`, serverId))?.[1]
    expect(used("/s/menu", "srv_1")).toBe("Menu")
    expect(used("/mcp/composites/01M8EX9NBV45VV2SXSRDWXH745")).toBe("a composite")
    expect(["/mcp", "/v1"].map((path) => used(path))).toEqual(["Berth", "Berth"])
  })
})

describe("a chart's scale", () => {
  it("ends at the first of 1, 2, 5, 10, 20, 50, … that is enough", () => {
    expect([0, 1, 2, 3, 5, 6, 10, 11, 20, 21, 99, 100, 1_234_567].map(topOf))
      .toEqual([1, 1, 2, 5, 5, 10, 10, 20, 20, 50, 100, 100, 2_000_000])
    FastCheck.assert(FastCheck.property(FastCheck.integer({ min: 1, max: 2 ** 31 - 1 }), (most) => {
      expect(topOf(most)).toBeGreaterThanOrEqual(most)
      expect(topOf(most)).toBeLessThanOrEqual(most * 2.5)
    }))
  })
})

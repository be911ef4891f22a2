import { dataScript } from "#http/pages/json-ld.ts"
import { FastCheck as fc } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses } from "../support/business.ts"
import { newCategory, newItem } from "../support/catalog.ts"
import { shownBusiness } from "../support/directory-door.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
let projectId = ""
let ladle: Business
const hostile = "</script><script>alert(1)</script><!--<b>\"'&\u2028"
const html = { headers: { accept: "text/html" } }

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  projectId = (await owner.project()).id
  ladle = await shownBusiness(owner, { projectId, name: `Ladle ${hostile}`, templateType: "restaurant" }, {
    description: `Soups ${hostile}`,
    contact: {
      phone: "+1 (555) 0100",
      website: "https://ladle.example/?a=1&b=%22",
      address: { line1: `1 ${hostile.slice(0, 20)}`, city: "Denver", state: "CO", zip: "80202", country: "US" },
      coordinates: { lat: 39.75, lng: -105 }
    },
    hours: {
      monday: "closed",
      friday: { open: "10:00", close: "02:00" },
      "2026-12-24": { open: "00:00", close: "24:00" }
    }
  })
  const { id: categoryId } = await newCategory(owner, ladle.id, { name: `Mains ${hostile}` })
  await newItem(owner, ladle.id, { name: `Corn ${hostile}`, description: hostile, priceCents: 899, categoryId })
  await newItem(owner, ladle.id, { name: "Sold out", isAvailable: false })
})

const pageOf = ({ slug }: Business) => berth.request("GET", `/listings/${slug}`, html)
const scriptsOf = (text: string) => [...text.matchAll(/<script([^>]*)>([\s\S]*?)<\/script/gi)]
const linkedData = (text: string) => JSON.parse(scriptsOf(text)[0]?.[2] ?? "") as Record<string, unknown>

describe("the page of a listing", () => {
  it("says what the business is, as LocalBusiness with its menu, too", async () => {
    const { headers, status, text } = await pageOf(ladle)
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    const url = `${berth.url}/listings/${ladle.slug}`
    expect(text).toContain(`<link rel="canonical" href="${url}">`)
    expect(text).toContain(`<meta property="og:url" content="${url}">`)
    expect(text).toContain(`href="${berth.url}/api/v1/hub/listings/${ladle.listingId}/skill.md"`)
    expect(text).toContain(
      `href="${berth.url}/api/v1/hub/listings/${ladle.listingId}/referral" rel="nofollow ugc noopener"`
    )
    expect(text).toContain("href=\"tel:+15550100\"")
    expect(text).toContain("$8.99")
    expect(text).not.toContain("Sold out")
    expect(text).not.toMatch(/noindex/)
    expect(linkedData(text)).toMatchObject({
      "@context": "https://schema.org",
      "@type": ["LocalBusiness", "Restaurant"],
      name: expect.stringContaining("Ladle </script><script>alert(1)"),
      url,
      telephone: "+1 (555) 0100",
      sameAs: "https://ladle.example/?a=1&b=%22",
      address: { "@type": "PostalAddress", addressLocality: "Denver", addressRegion: "CO", postalCode: "80202" },
      geo: { "@type": "GeoCoordinates", latitude: 39.75, longitude: -105 },
      openingHoursSpecification: expect.arrayContaining([
        {
          "@type": "OpeningHoursSpecification",
          dayOfWeek: "https://schema.org/Monday",
          opens: "00:00",
          closes: "00:00"
        },
        {
          "@type": "OpeningHoursSpecification",
          dayOfWeek: "https://schema.org/Friday",
          opens: "10:00",
          closes: "02:00"
        },
        {
          "@type": "OpeningHoursSpecification",
          validFrom: "2026-12-24",
          validThrough: "2026-12-24",
          opens: "00:00",
          closes: "23:59"
        }
      ]) as unknown,
      hasMenu: {
        "@type": "Menu",
        hasMenuSection: [{
          "@type": "MenuSection",
          hasMenuItem: [{ "@type": "MenuItem", offers: { "@type": "Offer", price: "8.99", priceCurrency: "USD" } }]
        }]
      }
    })
  })

  it("tells searchers a price as it is meant: exactly, from, an hour, or none", async () => {
    const priced = await shownBusiness(owner, { projectId, name: "Priced" })
    for (const priceType of ["fixed", "starting_at", "hourly", "free_estimate"]) {
      await newItem(owner, priced.id, { name: priceType, priceCents: 650, priceType })
    }
    const { text } = await pageOf(priced)
    const { hasMenu } = linkedData(text) as {
      hasMenu: { hasMenuSection: ReadonlyArray<{ hasMenuItem: ReadonlyArray<{ name: string; offers?: object }> }> }
    }
    const offers = hasMenu.hasMenuSection.flatMap(({ hasMenuItem }) =>
      hasMenuItem.map(({ name, offers }) => [name, offers] as const)
    )
    const offer = (price: object) => ({ "@type": "Offer", availability: "https://schema.org/InStock", ...price })
    const priceCurrency = "USD"
    expect(Object.fromEntries(offers)).toEqual({
      fixed: offer({ price: "6.50", priceCurrency }),
      starting_at: offer({ priceSpecification: { "@type": "PriceSpecification", minPrice: "6.50", priceCurrency } }),
      hourly: offer({
        priceSpecification: { "@type": "UnitPriceSpecification", price: "6.50", priceCurrency, unitCode: "HUR" }
      }),
      free_estimate: undefined
    })
  })

  it("lets no name out of its place, whatever it is", async () => {
    const { headers, text } = await pageOf(ladle)
    expect(scriptsOf(text).map(([, attributes]) => attributes)).toEqual([" type=\"application/ld+json\""])
    expect(text.replace(/<script[\s\S]*?<\/script>/, "")).not.toMatch(/<script|<!--|<b>/i)
    const policy = headers.get("content-security-policy") ?? ""
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'$/
    )
    fc.assert(fc.property(fc.json(), fc.string({ unit: "binary" }), (value, text) => {
      const data: unknown = { value: JSON.parse(value) as unknown, text, hostile }
      const { text: element } = dataScript(data)
      const inside = element.slice("<script type=\"application/ld+json\">".length, -"</script>".length)
      expect(inside).not.toMatch(/[<>&\u2028\u2029]/)
      expect(JSON.parse(inside)).toEqual(data)
    }))
  })

  it("is kept for a minute, has an ETag, and counts as a view; a HEAD does not", async () => {
    const { headers } = await pageOf(ladle)
    expect([headers.get("cache-control"), headers.get("x-ratelimit-limit")])
      .toEqual(["public, max-age=60, stale-while-revalidate=300", "300"])
    const again = await berth.request("GET", `/listings/${ladle.slug}`, {
      headers: { ...html.headers, "if-none-match": headers.get("etag") ?? "" }
    })
    expect(again.status).toBe(304)
    const fresh = await shownBusiness(owner, { projectId, name: "Viewed once" })
    await berth.request("HEAD", `/listings/${fresh.slug}`)
    await pageOf(fresh)
    const counted = () =>
      runSql(berth.databaseUrl, "SELECT kind, n::int FROM listing_events WHERE listing_id = $1", [fresh.listingId])
    await expect.poll(counted, { timeout: 10_000 }).toEqual([{ kind: "view", n: 1 }])
  })

  it("is not there for what is hidden, gone or never was: a page for people, the envelope for programs", async () => {
    const hidden = await shownBusiness(owner, { projectId, name: "Hidden" })
    await owner.patch(`/v1/directory/${hidden.listingId}`, { visible: false })
    for (const slug of [hidden.slug, "nobody", "x".repeat(64), "%3Cb%3E", "UPPER"]) {
      const answer = await berth.request("GET", `/listings/${slug}`, html)
      expect([answer.status, answer.text.includes("There is nothing here")], slug).toEqual([404, true])
      const json = await berth.request("GET", `/listings/${slug}`)
      expect([json.status, json.body], slug).toMatchObject([404, { error: { code: "not_found" } }])
    }
  })

  it("has no menu, hours or contact where none are stated, and shows 500 items of more", async () => {
    const bare = await shownBusiness(owner, { projectId, name: "Bare" })
    const { text } = await pageOf(bare)
    expect(text).not.toMatch(/<h2>(Hours|Contact)|id="menu"/)
    expect(linkedData(text)).not.toHaveProperty("hasMenu")
    await runSql(
      berth.databaseUrl,
      `INSERT INTO catalog_items (id, business_id, name, item_type, price_type, sort_order)
       SELECT 'item' || n, $1, 'Thing ' || n, 'product', 'fixed', n FROM generate_series(1, 600) n`,
      [bare.id]
    )
    const full = (await pageOf(bare)).text
    expect([full.match(/<li><span><bdi>Thing /g)?.length, full.includes("And 100 more.")]).toEqual([500, true])
  })
})

describe("crawlers", () => {
  it("learn from robots.txt what is private, and where the sitemap is", async () => {
    const { headers, text } = await berth.request("GET", "/robots.txt")
    expect(headers.get("content-type")).toMatch(/^text\/plain/)
    expect(text).toContain(`Sitemap: ${berth.url}/sitemap.xml`)
    for (const path of ["/api/", "/v1/", "/oauth/", "/hub/listings", "/mcp", "/s/"]) {
      expect(text).toContain(`\nDisallow: ${path}\n`)
    }
    expect(text).not.toMatch(/Disallow: \/(listings|$)/m)
  })

  it("find every page that is shown in the sitemap's parts, and no other", async () => {
    const hidden = await shownBusiness(owner, { projectId, name: "Sitemap hidden" })
    await owner.patch(`/v1/directory/${hidden.listingId}`, { visible: false })
    // The second part begins at 50,000.
    await runSql(berth.databaseUrl, "ALTER TABLE listings ALTER number RESTART WITH 50000")
    const late = await shownBusiness(owner, { projectId, name: "Sitemap late" })
    const index = await berth.request("GET", "/sitemap.xml")
    expect(index.headers.get("content-type")).toMatch(/^application\/xml/)
    const parts = [...index.text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url = ""]) => url)
    expect(parts).toEqual([0, 1].map((part) => `${berth.url}/sitemaps/listings-${part}.xml`))
    const [first, second] = await Promise.all(
      parts.map(async (url) => (await berth.request("GET", new URL(url).pathname)).text)
    )
    expect(first).toContain(`<loc>${berth.url}/listings/${ladle.slug}</loc><lastmod>20`)
    expect(first).not.toContain(hidden.slug)
    expect([...second!.matchAll(/<loc>/g)].length).toBe(1)
    expect(second).toMatch(
      new RegExp(`<loc>${berth.url}/listings/${late.slug}</loc><lastmod>\\d{4}-\\d\\d-\\d\\dT[\\d:]+Z</lastmod>`)
    )
    for (
      const file of ["listings-2.xml", "listings-00.xml", "listings-99999999999.xml", "listings-99999.xml", "x", "%00"]
    ) {
      expect((await berth.request("GET", `/sitemaps/${file}`)).status, file).toBe(404)
    }
    await owner.delete(`${businesses}/${late.id}`)
    expect((await berth.request("GET", "/sitemaps/listings-1.xml")).status).toBe(404)
  })
})

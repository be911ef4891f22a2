import { CurrentSettings } from "#src/config/Settings.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Effect, Option, Schema } from "effect"
import { SitemapsRepo } from "./SitemapsRepo.ts"

/** The most that one file may name (sitemaps.org protocol). */
const perPart = 50_000

export class NoSuchSitemap extends Schema.TaggedError<NoSuchSitemap>()("NoSuchSitemap", {}, failsWith(404)) {
  override get message() {
    return "There is no such sitemap; /sitemap.xml names those that are"
  }
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "'": "&apos;",
  "\"": "&quot;"
}
const escaped = (text: string) => text.replace(/[&<>'"]/g, (sign) => entities[sign] ?? sign)

const documentOf = (element: string, content: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<${element} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${content}\n</${element}>\n`

/** The pages of all listings for the crawlers of searchers. */
export class Sitemaps extends Effect.Service<Sitemaps>()("syndication/Sitemaps", {
  effect: Effect.gen(function*() {
    const repo = yield* SitemapsRepo
    const { baseUrl } = yield* CurrentSettings
    const base = escaped(baseUrl)

    /**
     * A part has the listings of a range of their numbers: it is found without counting, and a listing stays in its part
     * for good.
     */
    const index = Effect.map(
      repo.parts(perPart),
      (parts) =>
        documentOf(
          "sitemapindex",
          parts.map((part) => `<sitemap><loc>${base}/sitemaps/listings-${part}.xml</loc></sitemap>`).join("\n")
        )
    )

    const part = Effect.fn("Sitemaps.part")(function*(file: string) {
      const [, number] = /^listings-(0|[1-9]\d{0,4})\.xml$/.exec(file) ?? []
      const urls = number === undefined
        ? Option.none()
        : yield* repo.urls(`${base}/listings/`, Number(number) * perPart, perPart)
      return Option.isNone(urls) ? yield* new NoSuchSitemap() : documentOf("urlset", urls.value)
    })

    return { index, part } as const
  })
}) {}

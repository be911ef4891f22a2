import { conditional } from "#http/answers/conditional.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { skillFolders, SkillIndex } from "#src/hub/SkillIndex.ts"
import { HttpRouter, HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"

const caching = { "cache-control": "public, max-age=60, stale-while-revalidate=300" }

/**
 * What the clients of Agent Skills fetch (Agent Skills discovery, 0.1.0 and 0.2.0): an index, and the files that it
 * names, below the root and below each listing's address. A client that looks which skills there are fetches them all,
 * so none of these counts as a click; and they count at the rate of the directory.
 */
export const SkillsRoutes = rawRoutes((add) =>
  Effect.gen(function*() {
    const index = yield* SkillIndex
    const json = <E, R>(document: Effect.Effect<object, E, R>) =>
      Effect.zipWith(
        HttpServerRequest.HttpServerRequest,
        document,
        (request, body) => conditional(request, JSON.stringify(body), "application/json", caching)
      )
    const markdown = <E, R>(file: Effect.Effect<{ readonly text: string }, E, R>) =>
      Effect.zipWith(
        HttpServerRequest.HttpServerRequest,
        file,
        (request, { text }) => conditional(request, text, "text/markdown; charset=utf-8", caching)
      )
    const traits = { codes: "lower", credential: "hub", openToPages: true, rate: "directory" } as const
    const withParams = <A, E, R>(
      use: (params: { readonly slug: string; readonly name: string }) => Effect.Effect<A, E, R>
    ) => Effect.flatMap(HttpRouter.params, ({ name = "", slug = "" }) => use({ name, slug }))

    for (const folder of skillFolders) {
      const path = `/.well-known/${folder}`
      yield* add("GET", `${path}/index.json`, traits, json(index.root(folder)))
      yield* add("GET", `${path}/:name/SKILL.md`, traits, markdown(withParams(({ name }) => index.file(name))))
      yield* add(
        "GET",
        `/l/:slug${path}/index.json`,
        traits,
        json(withParams(({ slug }) => index.ofListing(slug, folder)))
      )
      yield* add(
        "GET",
        `/l/:slug${path}/:name/SKILL.md`,
        traits,
        markdown(withParams(({ name, slug }) => index.fileOfListing(slug, name)))
      )
    }
  })
)

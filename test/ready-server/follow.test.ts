import { decodeReadyConfig } from "#src/format/ReadyConfig.ts"
import { following } from "#src/ready-server/follow.ts"
import { withoutCredentials } from "#src/ready-server/served-config.ts"
import { Either } from "effect"
import { expect, it } from "vitest"
import { minimal } from "./config.ts"

const named = (name: string) => ({ ...minimal, business: { ...minimal.business, name } })
const initial = withoutCredentials(Either.getOrThrow(decodeReadyConfig(minimal)))

/** A platform that answers as told, and a clock. */
const setUp = (answer: (tag: string | null) => Response | Promise<Response>) => {
  const asked: Array<{ readonly url: string; readonly tag: string | null; readonly authorization: string | null }> = []
  const complaints: Array<string> = []
  const clock = { now: 0 }
  const follower = following({
    initial,
    baseUrl: "http://platform.test",
    credential: "replay",
    now: () => clock.now,
    warn: (message) => complaints.push(message),
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers)
      const tag = headers.get("if-none-match")
      asked.push({ url: input as string, tag, authorization: headers.get("authorization") })
      return answer(tag)
    }
  })
  const nameNow = async () => {
    await follower.follow()
    return follower.current().business.name
  }
  return { asked, clock, complaints, follower, nameNow }
}

const config = (name: string, etag: string) => Response.json({ data: named(name) }, { headers: { etag } })

it("a change is served ten seconds later at the latest, and nobody is asked in between", async () => {
  let name = "First"
  const { asked, clock, nameNow } = setUp((tag) =>
    tag === `"${name}"` ? new Response(null, { status: 304 }) : config(name, `"${name}"`)
  )
  expect(await nameNow()).toBe("First")
  name = "Second"
  clock.now += 4_000
  expect(await nameNow()).toBe("First")
  expect(asked).toHaveLength(1)
  clock.now += 5_000
  expect(await nameNow()).toBe("Second")
  clock.now += 60_000
  expect(await nameNow()).toBe("Second")
  expect(asked).toEqual([
    { url: "http://platform.test/api/v1/ready/self/config", tag: null, authorization: "Bearer replay" },
    expect.objectContaining({ tag: "\"First\"" }),
    expect.objectContaining({ tag: "\"Second\"" })
  ])
})

it("many requests at once ask once", async () => {
  const { asked, nameNow } = setUp(() => config("Now", "\"1\""))
  expect(await Promise.all(Array.from({ length: 20 }, nameNow))).toEqual(Array.from({ length: 20 }, () => "Now"))
  expect(asked).toHaveLength(1)
})

it.each<[string, () => Response | Promise<Response>, string | undefined]>([
  ["is not to be reached", () => Promise.reject(new Error("connect ECONNREFUSED")), "ECONNREFUSED"],
  ["refuses", () => new Response("no", { status: 401 }), "the platform answered 401"],
  ["is broken", () => new Response("no", { status: 500 }), "the platform answered 500"],
  ["answers something that is no configuration", () => Response.json({ data: { version: "3.0" } }), "version: must be"],
  ["answers something that is not JSON", () => new Response("<html>"), "JSON"],
  ["knows of no business", () => new Response("{}", { status: 404 }), undefined]
])("what is known stands where the platform %s, and the log has it once", async (_, answer, complaint) => {
  const { clock, complaints, nameNow } = setUp(answer)
  expect(await nameNow()).toBe("Nowhere")
  clock.now += 10_000
  expect(await nameNow()).toBe("Nowhere")
  expect(complaints).toEqual(complaint === undefined ? [] : [expect.stringContaining(complaint)])
})

it("a request waits a second for a platform that does not answer, and those after it not at all", async () => {
  const { clock, nameNow } = setUp(() => new Promise<Response>(() => undefined))
  const began = performance.now()
  expect(await nameNow()).toBe("Nowhere")
  expect(performance.now() - began).toBeLessThan(1_500)
  clock.now += 1_000
  const again = performance.now()
  expect(await nameNow()).toBe("Nowhere")
  expect(performance.now() - again).toBeLessThan(500)
})

it("credentials of integrations are not kept", async () => {
  const { follower, nameNow } = setUp(() =>
    Response.json({ data: { ...named("With"), integrations: { crm: { apiKey: "sk_secret" } } } })
  )
  expect(await nameNow()).toBe("With")
  expect(JSON.stringify(follower.current())).not.toContain("sk_secret")
})

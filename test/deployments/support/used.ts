import { SandboxStatesLive } from "#src/machines/sandbox/SandboxStates.ts"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { expect } from "vitest"
import { traces } from "../../program/support/traces.ts"
import { type Account, dataOf, type Listed, type Server } from "../../support/account.ts"
import { runSql } from "../../support/sql.ts"
import { Killable } from "./killable.ts"
import { startProber, versionAt, type Where } from "./prober.ts"
import { secondGateway } from "./second-gateway.ts"
import { untilTrue } from "./wait.ts"

export interface Deployed {
  readonly id: string
  readonly version: number
  readonly status: string
  readonly active: boolean
  readonly errorMessage?: string
  readonly deployedAt: string | null
}

/** A server and what its owner and its clients do with it, for tests of what happens to it meanwhile. */
export const makeUsed = async (
  platform: { readonly url: string; readonly databaseUrl: string },
  home: string,
  owner: Account,
  image: (note: string) => Effect.Effect<string>,
  fields: Readonly<Record<string, unknown>> = {}
) => {
  const server = await owner.server((await owner.project()).id, fields)
  const path = `/v1/servers/${server.id}`
  /** When each version was replaced at the earliest, in Unix milliseconds. */
  const replaced = new Map<string, number>()
  let version = 0

  const deployments = async () => (await owner.get<Listed<Deployed>>(`${path}/deployments?limit=100`)).body.data
  const read = async () => dataOf(await owner.get<{ data: Server & { readonly asleep: boolean } }>(path))
  /** Begins the deployment of the next version. */
  const begin = async () => {
    const imageUri = await Effect.runPromise(image(String(version + 1)))
    replaced.set(String(version), Date.now())
    version += 1
    return dataOf(await owner.post<{ data: Deployed }>(`${path}/deploy`, { imageUri, wait: false })).id
  }
  /** Until nothing of a deployment is under way, its old machines included. */
  const settled = () =>
    untilTrue(async () => {
      const open = "SELECT 1 FROM deployments WHERE server_id = $1 AND stage NOT IN ('retired', 'failed', 'kept')"
      return (await runSql(platform.databaseUrl, open, [server.id])).length === 0
    })
  const records = () => readdirSync(join(home, "machines")).filter((name) => !name.startsWith("."))

  return {
    server,
    owner,
    read,
    begin,
    deployments,
    settled,
    records,
    version: () => String(version),
    at: async (url: string): Promise<Where> => ({
      url: `${url}/s/${server.slug}`,
      token: dataOf(await owner.request<{ data: { accessToken: string } }>("POST", `${path}/test-token`)).accessToken
    }),
    /** Uses it without a break, at these places. */
    probe: (places: ReadonlyArray<Where>) =>
      startProber(places, { slowSeconds: 1, replacedAt: (version) => replaced.get(version) }),
    /** The version that was begun last serves, with the one machine there is, and all that is recorded is so. */
    holds: async (id: string, where: Where) => {
      await settled()
      expect(await versionAt(where)).toBe(String(version))
      const [newest, ...older] = await deployments()
      expect(newest).toMatchObject({ id, version, status: "running", active: true })
      expect(newest?.deployedAt).not.toBeNull()
      expect(older.filter(({ active, status }) => active || status !== "running")).toEqual([])
      expect(await read()).toMatchObject({ status: "running", asleep: false })
      await untilTrue(() => records().length === 1)
      expect(records()).toEqual([id])
      expect(traces(home).machines).toEqual([id])
    }
  }
}
export type Used = Awaited<ReturnType<typeof makeUsed>>

/** The same on a platform that can be killed, with a gateway in this process, which lives on. */
export const makeKillable = async (
  image: (note: string) => Effect.Effect<string>,
  { fields, variables = {} }: {
    readonly variables?: Readonly<Record<string, string>>
    readonly fields?: Readonly<Record<string, unknown>>
  } = {}
) => {
  const platform = new Killable(variables)
  await platform.start()
  const gateway = await secondGateway(platform, SandboxStatesLive, { BERTH_HOME: platform.home, ...variables })
  const used = await makeUsed(platform, platform.home, await platform.signUp(), image, fields)
  const first = await used.begin()
  const where = await used.at(gateway.url)
  await used.holds(first, where)
  const clear = async () => {
    await gateway.stop()
    await platform.clear()
  }
  return { ...used, platform, where, clear }
}

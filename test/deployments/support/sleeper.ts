import { expect } from "vitest"
import { type Account, dataOf, type Server } from "../../support/account.ts"
import { type Berth } from "../../support/Berth.ts"
import { type Sent } from "../../support/http.ts"
import { runSql } from "../../support/sql.ts"
import { type StartableMachines } from "../../support/startable-machines.ts"
import { ageServer } from "./age-server.ts"

/** A server with a machine of this process, and what can happen to it. */
export interface Sleeper {
  readonly owner: Account
  readonly server: Server
  readonly machine: string
  readonly token: string
  /** A request to it through the gateway. */
  readonly ask: (path?: string, sent?: Sent, method?: string) => ReturnType<Berth["request"]>
  readonly read: () => Promise<Server & { readonly asleep: boolean }>
  readonly messages: () => Promise<string>
  /** Lets the time pass after which it falls asleep, and its machine is stopped. */
  readonly fallAsleep: () => Promise<void>
  /** The same for what was said of its use until now, and no more. */
  readonly age: () => Promise<void>
}

/** What the platform does every few seconds for sleep and wakes, in milliseconds. */
export const rounds = [2_000, 3_000, 5_000]

/** Begins it at once. */
export const hurry = (berth: Berth) => {
  for (const every of rounds) berth.hurry(every)
}

export const sleeper = async (
  berth: Berth,
  machines: StartableMachines,
  fields: Readonly<Record<string, unknown>> = {},
  account?: Account
): Promise<Sleeper> => {
  const owner = account ?? await berth.signUp("pro")
  const project = await owner.project()
  const server = await owner.server(project.id, { autoStopSeconds: 60, healthTimeoutSeconds: 30, ...fields })
  const sql = (statement: string) => runSql(berth.databaseUrl, statement, [server.id])
  const machine = `dep_${server.id.slice(4)}`
  await machines.add(machine, server.id)
  await sql(
    `INSERT INTO deployments (id, server_id, version, type, status, stage, active, image_uri, port, starts)
     SELECT 'dep_' || substr($1, 5), $1, 1, 'deploy', 'running', 'retired', true, 'oci:/nowhere', 8080, 1`
  )
  await sql("UPDATE servers SET active_deployment_id = 'dep_' || substr($1, 5), status = 'running' WHERE id = $1")
  const { accessToken: token } = dataOf(
    await owner.request<{ data: { accessToken: string } }>("POST", `/v1/servers/${server.id}/test-token`)
  )
  const read = async () => dataOf(await owner.get<{ data: Server & { asleep: boolean } }>(`/v1/servers/${server.id}`))
  const age = () => ageServer(berth.databaseUrl, server.id)
  return {
    owner,
    server,
    machine,
    token,
    age,
    read,
    ask: (path = "/", sent = {}, method = "GET") =>
      berth.request(method, `/s/${server.slug}${path}`, { token, ...sent }),
    messages: async () => {
      const { body } = await owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(
        `/v1/servers/${server.id}/logs`
      )
      return body.data.items.map(({ message }) => message).join("\n")
    },
    fallAsleep: async () => {
      // What was asked a moment ago is told first.
      berth.hurry(3_000)
      await new Promise((resolve) => setTimeout(resolve, 100))
      berth.advance(31_000)
      await expect.poll(async () => {
        await age()
        hurry(berth)
        return machines.statusOf(machine) === "exited" && (await read()).asleep
      }, { timeout: 10_000, interval: 100 }).toBe(true)
    }
  }
}

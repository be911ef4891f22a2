import { makeDoor } from "#src/deployments/handshake/door.ts"
import { handshake } from "#src/deployments/handshake/handshake.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { type Account, type Door } from "./account.ts"
import { fakeMachines } from "./fake-machines.ts"
import { type Served, served, withDeployment } from "./served.ts"
import { runSql } from "./sql.ts"

export interface LiveMember extends Served {
  readonly slug: string
  readonly deploymentId: string
}

/** Members of composites whose servers run in this process or beside it, on a platform with `machines`. */
export class LiveMembers {
  /** By the ids of deployments. */
  readonly addresses = new Map<string, MachineAddress>()
  readonly machines = fakeMachines(this.addresses)

  /** Stores what the server at the URL lists, as a deployment does. */
  readonly list = async (berth: Pick<Door, "databaseUrl">, { deploymentId, server }: LiveMember) => {
    const address = this.addresses.get(deploymentId)!
    const door = makeDoor({ address, port: 8080, publicUrl: server.publicUrl, replayToken: "r", token: "t" })
    const { features, ok, problem, revision, tools, transport } = await handshake(
      door,
      { port: 8080, seconds: 5, foreignIssuer: undefined },
      new AbortController().signal
    )
    if (!ok) throw new Error(`the member lists nothing: ${problem}`)
    await runSql(
      berth.databaseUrl,
      `INSERT INTO deployment_handshakes (deployment_id, ok, transport, revision, tool_count, tools, features)
       VALUES ($1, true, $2, $3, $4, $5::jsonb, $6::jsonb)
       ON CONFLICT (deployment_id) DO UPDATE SET features = excluded.features, tools = excluded.tools, tried_at = now()`,
      [deploymentId, transport, revision, tools.length, JSON.stringify(tools), JSON.stringify(features)]
    )
  }

  /** Where requests for the member's machine go from now on. */
  readonly move = ({ deploymentId }: LiveMember, url: string) => {
    const { hostname: host, port } = new URL(url)
    this.addresses.set(deploymentId, { _tag: "Tcp", host, port: Number(port) })
  }

  /** A listed business of the owner whose server is the one at the URL. */
  readonly add = async (
    berth: Pick<Door, "databaseUrl">,
    owner: Account,
    slug: string,
    url: string
  ): Promise<LiveMember> => {
    const one = await served(owner, slug)
    const deploymentId = `dep_${one.server.id.slice(4)}`
    const member = { ...one, deploymentId, slug: one.business.slug }
    this.move(member, url)
    await withDeployment(berth, one)
    await runSql(berth.databaseUrl, "UPDATE deployments SET port = 8080 WHERE id = $1", [deploymentId])
    await runSql(berth.databaseUrl, "UPDATE servers SET status = 'running' WHERE id = $1", [one.server.id])
    // Where the listing has its health from whenever its owner changes it.
    await runSql(
      berth.databaseUrl,
      `INSERT INTO server_health (server_id, path, hours, score) VALUES ($1, '/health', '[[60, 60]]', 100)
       ON CONFLICT (server_id) DO UPDATE SET hours = excluded.hours, score = excluded.score`,
      [one.server.id]
    )
    await runSql(berth.databaseUrl, "UPDATE listings SET verification_tier = 2, health_score = 100 WHERE id = $1", [
      one.business.listingId
    ])
    await this.list(berth, member)
    return member
  }
}

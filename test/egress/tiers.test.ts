import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { until } from "../machines/support.ts"
import { everyTier } from "../machines/tiers.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { fakeOutside, probeImage } from "./support.ts"

/** From inside a machine, in whatever runs it: the gate has this as root and as an ordinary user. */
describeWhen(
  missingProgram("openssl"),
  "a server's way out, from end to end",
  () =>
    everyTier("in the tier", (tier) => {
      const berth = new Berth()
      let world: Awaited<ReturnType<typeof fakeOutside>>
      let owner: Account
      let server: Server

      const tool = async (name: string, args: Readonly<Record<string, unknown>>) => {
        const agent = await connectMcp(berth.url, { token: owner.token })
        const answer = textOf(await callTool(agent, name, args))
        await agent.close()
        return answer
      }
      /** What a URL answers to the machine, through the server's own tool. */
      const get = async (url: string, token: string) => {
        const client = await connectMcp(`${berth.url}/s/${server.slug}`, { token })
        const code = `return fetch(${JSON.stringify(url)}).then((r) => r.text())`
        const answer = textOf(await callTool(client, "run", { code }))
        await client.close()
        return answer
      }

      beforeAll(async () => {
        world = await fakeOutside()
        for (const name of ["api", "login", "keys"]) world.names.set(`${name}.example.com`, ["93.184.216.34"])
        await berth.start({ machines: true, outside: world.outside, variables: { SANDBOX_TIER: tier } })
        owner = await berth.signUp("enterprise")
        server = await owner.server((await owner.project()).id)
        const imageUri = await Effect.runPromise(probeImage(world.authority))
        expect(await tool("deploy", { serverId: server.id, imageUri })).toMatchObject({ status: "running" })
      }, 120_000)
      afterAll(async () => {
        await berth.stop()
        world.close()
      })

      it("is closed by default; the log has the one command that opens it for the host that was refused", async () => {
        const token = dataOf(
          await owner.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, {})
        ).accessToken
        expect(await get("https://api.example.com/", token)).toBe("failed ENOTFOUND")
        const line = await until(async () => {
          const { items } = dataOf(
            await owner.get<{ data: { items: ReadonlyArray<{ level: string; message: string }> } }>(
              `/v1/servers/${server.id}/logs?level=warn`
            )
          )
          return items.find(({ message }) => message.startsWith("api.example.com "))?.message
        })
        const [, url, name = "", json = ""] = /: npx berth call (\S+) (\w+) --input '(.*)'$/.exec(line) ?? []
        expect([url, name]).toEqual([`${berth.url}/mcp`, "update_server"])
        await tool(name, JSON.parse(json) as Record<string, unknown>)
        // Once the keeper has forgotten that it was refused.
        await until(
          async () => await get("https://api.example.com/", token) === "api.example.com over TLS" || undefined,
          15
        )
        expect(world.connections).toContain("93.184.216.34:443")
      }, 60_000)

      it("leads a byoa server to its issuer and to its keys, by default, and nowhere else", async () => {
        // It is asked again and again, and not by its owner: tokens of other issuers are nobody's here.
        const open = { egress: null, guestRequestsPerMinute: null }
        expect(await tool("update_server", { serverId: server.id, ...open })).toMatchObject({ egress: "none" })
        const issuer = "https://login.example.com"
        await tool("configure_server_auth", {
          serverId: server.id,
          authMode: "byoa",
          byoaConfig: {
            issuer,
            jwksUri: "https://keys.example.com/jwks",
            authorizationEndpoint: `${issuer}/authorize`,
            tokenEndpoint: `${issuer}/token`
          }
        })
        // Whatever token comes, the server itself judges it.
        for (const host of ["login.example.com", "keys.example.com"]) {
          await until(
            async () => await get(`https://${host}/`, "of-that-issuer") === `${host} over TLS` || undefined,
            15
          )
        }
        await until(
          async () => await get("https://api.example.com/", "of-that-issuer") === "failed ENOTFOUND" || undefined,
          15
        )
      }, 60_000)
    })
)

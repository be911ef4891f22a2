import { readFileSync } from "node:fs"
import { join } from "node:path"
import { dataOf, type Listed, type Server } from "../../support/account.ts"
import { send, type Sent } from "../../support/http.ts"
import { type Program } from "./program.ts"

export interface DeploymentView {
  readonly id: string
  readonly status: string
  readonly active: boolean
  readonly errorMessage?: string
  readonly deployedAt: string | null
}

/** What `npm start` prints for the newcomer. */
export const invitation = (output: string) => ({
  url: /MCP URL +(\S+)/.exec(output)?.[1] ?? "",
  token: /--token (\S+)/.exec(output)?.[1] ?? "",
  line: /^ {2}(npx berth call .*)$/m.exec(output)?.[1] ?? ""
})

/** The demo's account, by the password in its home, over HTTP. */
export const owner = async ({ place, url }: Program) => {
  const demo = JSON.parse(readFileSync(join(place.home, "demo.json"), "utf8")) as {
    readonly email: string
    readonly password: string
    readonly serverId: string
  }
  const { email, password, serverId } = demo
  const base = url.replace("localhost", "127.0.0.1")
  const { token } = dataOf(
    await send<{ data: { token: string } }>(base, "POST", "/v1/auth/login", { body: { email, password } })
  )
  const request = <Body>(method: string, path: string, sent: Sent = {}) =>
    send<Body>(base, method, path, { token, ...sent })
  const server = async () => dataOf(await request<{ data: Server }>("GET", `/v1/servers/${serverId}`))
  const deployments = async () =>
    (await request<Listed<DeploymentView>>("GET", `/v1/servers/${serverId}/deployments`)).body.data
  const testToken = async (id = serverId) =>
    dataOf(await request<{ data: { accessToken: string } }>("POST", `/v1/servers/${id}/test-token`)).accessToken
  const newServer = async (name: string) => {
    const { projectId } = await server()
    return dataOf(
      await request<{ data: Server }>("POST", `/v1/projects/${projectId}/servers`, { body: { name } })
    )
  }
  return { serverId, session: token, base, request, server, deployments, testToken, newServer }
}
export type Owner = Awaited<ReturnType<typeof owner>>

import { Api } from "#http/api/Api.ts"
import { examples } from "#http/api/examples/index.ts"
import { ids as exampleIds } from "#http/api/examples/things.ts"
import { HttpApi } from "@effect/platform"

type Body = Readonly<Record<string, unknown>>

/** The bodies that the OpenAPI document shows, by `POST /v1/projects`. */
const shown = () => {
  const bodies: Record<string, Body> = {}
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group }) => {
      const body = examples[`${group.identifier}.${endpoint.name}`]?.body
      if (body !== undefined) bodies[`${endpoint.method} ${endpoint.path.replace(/:(\w+)/g, "{$1}")}`] = body
    }
  })
  return bodies
}

/** A body that each operation takes, by the operation's name: the document's, where no test is sent elsewhere by it. */
export const goodBodies: Readonly<Record<string, Body>> = {
  ...shown(),
  "POST /v1/servers/{serverId}/deploy": { imageUri: "oci:/nowhere", wait: true },
  "POST /api/v1/servers/{serverId}/clients": { clientMetadataUrl: "https://client.invalid/metadata.json" },
  // No such file can be imported: trying it deploys nothing.
  "POST /api/v1/ready/businesses/publish": { filename: "menu.txt", content: "name\nSoup\n", name: "Copper Ladle" },
  // What its tool takes: over HTTP the file is uploaded.
  "POST /api/v1/ready/businesses/{businessId}/import": { filename: "menu.csv", content: "name\nSoup\n" },
  "POST /api/v1/hub/listings/{listingId}/capability-doc": { format: "skill_md", content: "# Copper Ladle\n" }
}

/** Such a body with the ids that it names filled in. */
export const withIds = (body: Body, ids: Readonly<Record<string, string>>): Body =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, value === exampleIds.projectId ? ids[name] ?? value : value])
  )

/** A good body with the ids that it names filled in. */
export const bodyFor = (operation: string, ids: Readonly<Record<string, string>>): Body =>
  withIds(goodBodies[operation] ?? {}, ids)

/** Fields that take any object. */
export const freeFields: ReadonlySet<string> = new Set(["metadata", "integrations"])

import { digestOf, RegistryClient } from "../uploads/support/client.ts"
import { type Account } from "./account.ts"
import { newBusiness } from "./business.ts"
import { newCategory, newItem } from "./catalog.ts"
import { compose } from "./composites.ts"
import { type Operation } from "./operations.ts"

/** The identifiers that paths and bodies of operations name, by their parameters. */
export type Ids = Readonly<Record<string, string>>

/** A project of the owner with a server, a variable, a deployment and a key in it. */
export const things = async (account: Account): Promise<Ids> => {
  const project = await account.project()
  const server = await account.server(project.id)
  await account.put(`/v1/servers/${server.id}/env/A`, { value: "x" })
  const deployed = await account.request<{ data: { id: string } }>("POST", `/v1/servers/${server.id}/deploy`, {
    body: { imageUri: "oci:/nowhere" },
    headers: { prefer: "respond-async" }
  })
  const { id: keyId } = await account.key(project.id)
  const { body: { data: registries } } = await account.get<{ data: Array<{ id: string }> }>("/v1/registries")
  for (const { id } of registries) await account.delete(`/v1/registries/${id}`)
  const registry = { host: "ghcr.io", username: "u", password: "p" }
  const added = await account.request<{ data: { id: string } }>("POST", "/v1/registries", { body: registry })
  const { id: businessId, listingId } = await newBusiness(account, { projectId: project.id })
  await account.patch(`/api/v1/ready/businesses/${businessId}`, { serverId: server.id })
  const [item, category] = [await newItem(account, businessId), await newCategory(account, businessId)]
  const { body: { data: older } } = await account.get<{ data: Array<{ id: string }> }>("/api/v1/hub/api-keys")
  // An account has at most 100.
  if (older.length > 90) { for (const { id } of older) await account.delete(`/api/v1/hub/api-keys/${id}`) }
  const hubKey = await account.request<{ data: { meta: { id: string } } }>("POST", "/api/v1/hub/api-keys", { body: {} })
  const index = Buffer.from("{\"schemaVersion\":2,\"manifests\":[]}")
  await new RegistryClient(account, `${project.slug}/app`)
    .manifest("v1", index, "application/vnd.oci.image.index.v1+json")
  return {
    projectId: project.id,
    digest: digestOf(index),
    serverId: server.id,
    name: "A",
    keyId,
    registryId: added.body.data.id,
    hubKeyId: hubKey.body.data.meta.id,
    businessId,
    listingId,
    itemId: item.id,
    categoryId: category.id,
    deploymentId: deployed.body.data.id,
    compositeId: (await compose(account)).id,
    grantId: "gra_01J00000000000000000000000",
    previewId: "01J00000000000000000000000",
    importId: "01J00000000000000000000000"
  }
}

/** Things for one operation after the other: new ones after each that can have changed them. */
export const thingsInTurn = (account: Account) => {
  let kept: Promise<Ids> | undefined
  return async ({ method }: Operation): Promise<Ids> => {
    const ids = await (kept ??= things(account))
    if (method !== "GET") kept = undefined
    return ids
  }
}

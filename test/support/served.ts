import { type Account, type Door, type Server } from "./account.ts"
import { type Business, businesses, newBusiness } from "./business.ts"
import { runSql } from "./sql.ts"

export interface Served {
  readonly business: Business
  readonly server: Server
}

/** A listed business with a server, which was never deployed. */
export const served = async (
  owner: Account,
  slug: string,
  fields: Readonly<Record<string, unknown>> = {}
): Promise<Served> => {
  const project = await owner.project()
  const server = await owner.server(project.id, { slug })
  const business = await newBusiness(owner, { projectId: project.id, name: `Named ${slug}`, ...fields })
  await owner.patch(`${businesses}/${business.id}`, { serverId: server.id })
  await owner.patch(`/v1/directory/${business.listingId}`, { visible: true })
  return { business, server }
}

/** Makes the server one whose third deployment serves, without a machine. */
export const withDeployment = async (
  berth: Pick<Door, "databaseUrl">,
  { server: { id } }: Served,
  imageUri = "oci:/nowhere"
) => {
  const deploymentId = `dep_${id.slice(4)}`
  await runSql(
    berth.databaseUrl,
    `INSERT INTO deployments (id, server_id, version, type, status, active, image_uri)
     VALUES ($1, $2, 3, 'deploy', 'running', true, $3)`,
    [deploymentId, id, imageUri]
  )
  await runSql(berth.databaseUrl, "UPDATE servers SET active_deployment_id = $1 WHERE id = $2", [deploymentId, id])
}

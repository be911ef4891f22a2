import { expect, it } from "vitest"
import { dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"

interface View {
  readonly id: string
  readonly errorMessage?: string
}

describeLong("a database that is out of room while a deployment is under way", () => {
  const berth = useBerth()

  it("fails the deployment once there is room again, and says that the disk was full", async () => {
    const owner = await berth.signUp()
    const server = await owner.server((await owner.project()).id)
    await runSql(
      berth.databaseUrl,
      `CREATE FUNCTION out_of_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '53100'; END $$`
    )
    await runSql(
      berth.databaseUrl,
      `CREATE TRIGGER out_of_room BEFORE INSERT ON cluster_messages FOR EACH ROW
         WHEN (NEW.tag = 'activity') EXECUTE FUNCTION out_of_room()`
    )
    const path = `/v1/servers/${server.id}/deploy`
    const { id } = dataOf(await owner.post<{ data: View }>(path, { imageUri: "oci:/none", wait: false }))
    const view = async () => dataOf(await owner.get<{ data: View }>(`/v1/servers/${server.id}/deployments/${id}`))
    await expect.poll(async () => (await view()).errorMessage, { timeout: 45_000, interval: 500 })
      .toBe("pending: The platform's disk is full; try again once its operator has made room")
    const { items } = dataOf(
      await owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(`/v1/servers/${server.id}/logs`)
    )
    expect(items[0]?.message).toContain("The platform's disk is full")
    await runSql(berth.databaseUrl, "DROP TRIGGER out_of_room ON cluster_messages")
  }, 60_000)

  it("keeps the reply of a stage until there is room, and goes on", async () => {
    const owner = await berth.signUp()
    const server = await owner.server((await owner.project()).id)
    // A sequence counts what a rolled back transaction has tried.
    await runSql(berth.databaseUrl, "CREATE SEQUENCE tried")
    await runSql(
      berth.databaseUrl,
      `CREATE FUNCTION out_of_room_for_replies() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('tried');
         RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '53100'; END $$`
    )
    await runSql(
      berth.databaseUrl,
      `CREATE TRIGGER out_of_room BEFORE INSERT ON cluster_replies FOR EACH ROW EXECUTE FUNCTION out_of_room_for_replies()`
    )
    const path = `/v1/servers/${server.id}/deploy`
    const { id } = dataOf(await owner.post<{ data: View }>(path, { imageUri: "oci:/none", wait: false }))
    const tries = async () => (await runSql(berth.databaseUrl, "SELECT last_value::int AS n FROM tried"))[0]?.["n"]
    // The engine itself tries five times.
    await expect.poll(tries, { timeout: 20_000, interval: 200 }).toBeGreaterThanOrEqual(5)
    await runSql(berth.databaseUrl, "DROP TRIGGER out_of_room ON cluster_replies")
    const view = async () => dataOf(await owner.get<{ data: View }>(`/v1/servers/${server.id}/deployments/${id}`))
    await expect.poll(async () => (await view()).errorMessage, { timeout: 20_000, interval: 500 })
      .toMatch(/^resolving: /)
  }, 60_000)
})

import { type LayoutEntry } from "#src/images/layout.ts"
import { type ImageFile, nodeFiles } from "./libraries.ts"

/** What an image needs to run programs for Node: a Node, and its libraries. */
export interface NodeRuntime {
  /** Node's path in the image. */
  readonly node: string
  readonly files: ReadonlyArray<ImageFile>
  readonly entries: ReadonlyArray<LayoutEntry>
  readonly env: ReadonlyArray<string>
  readonly libraryFolders: ReadonlyArray<string>
}

const users = "root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n"

export const copied = (file: ImageFile): LayoutEntry => ({
  type: "copy",
  path: file.path.slice(1),
  from: file.source,
  mode: 0o755
})

/** The variable by which ld.so is told of more folders, when there are any. */
export const libraryPath = (folders: ReadonlyArray<string>): ReadonlyArray<string> =>
  folders.length === 0 ? [] : [`LD_LIBRARY_PATH=${[...new Set(folders)].join(":")}`]

/** Of the Node that runs this, or of another on this host. */
export const nodeRuntime = async (program = process.execPath): Promise<NodeRuntime> => {
  if (process.platform !== "linux") throw new Error("Images can only be made on Linux: they take this Node")
  const { files, libraryFolders, node } = await nodeFiles(program)
  return {
    node,
    files,
    entries: [
      ...files.map(copied),
      { type: "file", path: "etc/passwd", content: users },
      { type: "file", path: "etc/group", content: "root:x:0:\nnogroup:x:65534:\n" },
      { type: "directory", path: "tmp", mode: 0o1777 },
      // Mount points: a driver that mounts the image read-only cannot make them.
      ...["dev", "proc", "sys"].map((path) => ({ type: "directory", path }) as const)
    ],
    env: ["PATH=/usr/local/bin:/usr/bin:/bin", "NODE_ENV=production", "PORT=8080", ...libraryPath(libraryFolders)],
    libraryFolders
  }
}

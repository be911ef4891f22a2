import { answering } from "./answering.ts"
import { packLayer } from "./pack-layer.ts"

await answering(packLayer)

import { testFixedClients } from '../support/fixed-client-turns.ts'
import { BINARY } from '../support/run-binary.ts'

testFixedClients({ program: [BINARY] })

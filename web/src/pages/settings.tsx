import './settings/settings.css'
import { useParameter } from '../navigation.js'
import { Problem, Skeleton } from '../parts/faces.js'
import { PageHead } from '../parts/page-head.js'
import { useCall } from '../use-call.js'
import { Doctor } from './settings/doctor.js'
import { Levels } from './settings/levels.js'
import { ConfigurationErrors, ConfigurationFiles, Policy } from './settings/policy.js'
import { KeyHelp, ThisBrowser } from './settings/this-browser.js'

/** What is in force and where it comes from. Files are changed in an editor: this page shows what they come to. */
export default function Settings() {
  const [session, setSession] = useParameter('session')
  const asked = useCall('config', { query: { session: session || undefined } })
  return (
    <>
      <PageHead title="Settings" label="Settings" />
      {asked.problem !== null && asked.data === null ? (
        <Problem problem={asked.problem} again={session === '' ? asked.again : () => setSession('')} />
      ) : asked.data === null ? (
        <Skeleton lines={8} />
      ) : (
        <>
          <ConfigurationErrors errors={asked.data.errors} />
          <Levels settings={asked.data} session={session} onSession={setSession} />
          <Policy settings={asked.data} />
          <ConfigurationFiles settings={asked.data} />
        </>
      )}
      <Doctor />
      <ThisBrowser />
      <KeyHelp />
    </>
  )
}

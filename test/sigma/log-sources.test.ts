import { describe, expect, it } from 'vitest';
import { asCategory, logSourcesOf } from './log-sources.ts';

describe('the log sources of an event', () => {
  it.each([
    [{ Channel: 'Microsoft-Windows-Sysmon/Operational', EventID: 1 }, ['process_creation', 'sysmon']],
    [
      { Channel: 'Microsoft-Windows-Sysmon/Operational', EventID: 13 },
      ['registry_set', 'registry_event', 'sysmon'],
    ],
    [{ Channel: 'Security', EventID: 4688 }, ['process_creation', 'security']],
    [{ Channel: 'security', EventID: 4624 }, ['security']],
    [{ Channel: 'Windows PowerShell', EventID: 800 }, ['ps_classic_provider_start', 'powershell-classic']],
    [{ eventSource: 's3.amazonaws.com', eventName: 'GetObject' }, ['cloudtrail']],
    [{ Channel: 'Microsoft-Windows-Kernel-Power/Thermal', EventID: 1 }, []],
    [{ message: 'text' }, []],
  ])('%j', (event, names) => {
    expect(logSourcesOf(event).map(({ category, service }) => category ?? service)).toEqual(names);
  });

  it('names the fields of a process in the audit log as rules do', () => {
    const event = {
      Channel: 'Security',
      EventID: 4688,
      NewProcessName: 'C:\\a.exe',
      SubjectUserName: 'user',
    };
    expect(asCategory(event)).toEqual({ ...event, Image: 'C:\\a.exe', User: 'user' });
    expect(asCategory({ Channel: 'Security', EventID: 4624, SubjectUserName: 'user' })).not.toHaveProperty(
      'User',
    );
  });
});

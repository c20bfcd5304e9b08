import IconListSearch from 'icon:list-search';
import { Button, Group, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type DragEvent, type FormEvent, type KeyboardEvent, useState } from 'react';
import { useOpenLookup } from './lookup-text.ts';

/** The server's limit; larger files are for the command line. */
const MAX_CHARACTERS = 1024 * 1024;

const reportLength = () =>
  notifications.show({
    title: 'Too long to look up here',
    message: 'The maximum is 1 MB. For larger files there is the command “tipline lookup FILE”.',
    color: 'red',
  });

/** A field for anything that has values in it: a value, many lines, the text of a report, a dropped file. */
export function LookupForm({ text: initial = '' }: { text?: string }) {
  const [text, setText] = useState(initial);
  const open = useOpenLookup();
  const lookUp = (wanted: string) => {
    if (wanted.trim() === '') return;
    if (wanted.length > MAX_CHARACTERS) reportLength();
    else open(wanted);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    lookUp(text);
  };
  const submitOnEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    lookUp(text);
  };
  const drop = async (event: DragEvent) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    // Longer than a text of the maximum length can be in UTF-8.
    if (file.size > 4 * MAX_CHARACTERS) return reportLength();
    const content = await file.text();
    if (content.length <= MAX_CHARACTERS) setText(content);
    lookUp(content);
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs">
        <Textarea
          label="Look up"
          description="A value, a list, the text of a report, or a dropped file; defanged or not"
          placeholder="evil[.]example, 198.51.100.7, hxxps://…"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={submitOnEnter}
          onDrop={(event) => void drop(event)}
          autosize
          minRows={1}
          maxRows={8}
          spellCheck={false}
          autoComplete="off"
          data-page-search
          flex="1 1 260px"
        />
        <Button type="submit" leftSection={<IconListSearch size={16} />} disabled={text.trim() === ''}>
          Look up
        </Button>
      </Group>
    </form>
  );
}

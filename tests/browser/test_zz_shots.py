import os, pytest
from pathlib import Path
from tests.browser.test_evals import page, upload
from tests.dashboard.evals.conftest import version, run, answered
from tests.dashboard.evals.conftest import upload as small
from django.urls import reverse
from tests.reference.published import published
from drift.models import EvalUpload, EvalRun
OUT=Path('/tmp/evshots'); OUT.mkdir(exist_ok=True)

@pytest.mark.django_db(transaction=True)
def test_shots(page, live_server, run, team, version, endpoint):
    from drift.evals.plan import ArmPlan, start
    g=EvalUpload.objects.create(team=team,name='gpqa_diamond_scores.csv',raw=published('gpqa_diamond_scores.csv').read_bytes())
    s=EvalUpload.objects.create(team=team,name='gpt4o_t0_strict_json.csv',raw=published('gpt4o_t0_strict_json.csv').read_bytes())
    c=EvalUpload.objects.create(team=team,purpose='cases',name='cases.jsonl',raw=b'{"id":"a","input":"2 + 2?","target":"4"}\n{"id":"b","input":"3 + 3?","target":"6"}\n{"id":"c","input":"file:///etc/passwd","target":"x"}\n')
    p=start(version,[ArmPlan(endpoint,"a"),ArmPlan(endpoint,"b")],repeats=5,token_cap=5000); EvalRun.objects.filter(pk=p.pk).update(state='paused',answered=23,problem='the cap of 5,000 tokens is reached (5,012 used)')
    pages={'index':'/evals/','new':'/evals/new','upload':'/evals/upload','version':reverse('eval-version',args=[version.public_id]),
     'begin':reverse('eval-run-new',args=[version.public_id]),'run':reverse('eval-run',args=[run.public_id]),'paused':reverse('eval-run',args=[p.public_id]),
     'runarm':reverse('eval-arm',args=['runs',run.public_id,1]),'runcompare':reverse('eval-compare',args=['runs',run.public_id]),
     'gpqa':reverse('eval-upload',args=[g.public_id]),'gpqacompare':reverse('eval-compare',args=['uploads',g.public_id]),'gpqaarm':reverse('eval-arm',args=['uploads',g.public_id,1]),
     'strict':reverse('eval-arm',args=['uploads',s.public_id,0]),'columns':reverse('eval-columns',args=[s.public_id]),'import':reverse('eval-import',args=[c.public_id]),
     'answer':reverse('eval-answer',args=[run.arms.first().answers.first().public_id])}
    only=os.environ.get('ONLY','').split()
    for name,url in pages.items():
        if only and name not in only: continue
        page.goto(live_server.url+url)
        for w in (1280,320):
            page.set_viewport_size({"width":w,"height":900})
            for theme in (('light','dark') if name in ('gpqacompare','strict','run') else ('light',)):
                page.emulate_media(color_scheme=theme); page.wait_for_timeout(100)
                page.screenshot(path=str(OUT/f'{name}-{w}-{theme}.png'),full_page=(name not in('strict','gpqaarm')) , timeout=60000)
            over=page.evaluate("document.documentElement.scrollWidth")
            if over>w:
                bad=page.evaluate("(w)=>[...document.querySelectorAll('main *')].filter(e=>e.getBoundingClientRect().right>w+1 && !e.closest('.scroll')).slice(0,4).map(e=>e.outerHTML.slice(0,120))",w)
                print(name,w,over,bad)

